// Joins the nodes that spell a layer normalisation, d = x - mean(x), d / sqrt(mean(d^2) + epsilon) * scale + bias, to
// one LayerNormalization.
#include "passes/edit.h"
#include "passes/extended.h"

namespace ortolan::passes {
namespace {

/** The axes over which a ReduceMean that keeps them runs; empty when not known. */
std::vector<int64_t> mean_axes(const Node& mean) {
  if (mean.int_or("keepdims", 1) != 1) return {};
  if (mean.opset < 18)
    return mean.ints("axes").size() <= static_cast<size_t>(kMaxRank) ? mean.ints("axes") : std::vector<int64_t>{};
  const Tensor* axes = stored_input(mean, 1);
  bool readable = axes && axes->type() == ElementType::kInt64 && axes->rank() == 1 && axes->element_count() <= kMaxRank;
  return readable ? to_int64s(*constant_input(mean, 1)) : std::vector<int64_t>{};
}

/** The first of the axes, counted from the end (-1 is the last), when they are all from there on in order. */
std::optional<int64_t> first_of_trailing(std::vector<int64_t> axes, const SymbolicShape& shape) {
  if (axes.empty()) return std::nullopt;
  for (int64_t& axis : axes) {
    if (axis >= 0 && !shape.has_rank()) return std::nullopt;
    if (axis >= 0) axis -= static_cast<int64_t>(shape.rank());
  }
  auto count = static_cast<int64_t>(axes.size());
  for (int64_t i = 0; i < count; ++i) {
    if (axes[static_cast<size_t>(i)] != i - count) return std::nullopt;
  }
  return axes[0];
}

/** `value` is mean(of) over trailing axes: the first of them. */
std::optional<int64_t> mean_axis(const ValueInfo* value, const ValueInfo* of, const Graph& graph) {
  const Node* mean = producer_of(value, "ReduceMean", graph);
  if (!mean || mean->input(0) != of) return std::nullopt;
  return first_of_trailing(mean_axes(*mean), of->type.shape);
}

/** v where `value` is v squared; else NULL. */
const ValueInfo* squared(const ValueInfo* value, const Graph& graph) {
  if (const Node* power = producer_of(value, "Pow", graph)) return operand_beside(power, "Pow", 2);
  const Node* product = producer_of(value, "Mul", graph);
  return product && product->input(0) == product->input(1) ? product->input(0) : nullptr;
}

struct Match {
  ValueInfo* x = nullptr;
  int64_t axis = 0;
  double epsilon = 0;
};

/** The part up to the division, whose numerator and denominator are given. */
std::optional<Match> match_division(const ValueInfo* deviation, const ValueInfo* divisor, const Graph& graph) {
  const Node* subtract = producer_of(deviation, "Sub", graph);
  if (!subtract || subtract->opset < 7 || !subtract->input(0)) return std::nullopt;
  Match match;
  match.x = subtract->input(0);
  auto axis = mean_axis(subtract->input(1), match.x, graph);
  const Node* root = producer_of(divisor, "Sqrt", graph);
  const Node* sum = root ? producer_of(root->input(0), "Add", graph) : nullptr;
  if (!axis || !sum || sum->opset < 7) return std::nullopt;
  size_t at = only_element(stored_input(*sum, 1)) ? 1 : 0;
  auto epsilon = only_element(stored_input(*sum, at));
  const ValueInfo* variance = sum->input(1 - at);
  if (!epsilon || !variance || !is_number(*sum, at, *epsilon, *variance)) return std::nullopt;
  const Node* mean = producer_of(variance, "ReduceMean", graph);
  if (!mean || squared(mean->input(0), graph) != deviation) return std::nullopt;
  if (mean_axis(variance, mean->input(0), graph) != axis) return std::nullopt;
  match.axis = *axis;
  match.epsilon = *epsilon;
  return match;
}

/** True when the parameter surely has exactly the shape of the normalised part of x. */
bool fits_row(const ValueInfo* parameter, const Match& match) {
  const SymbolicShape &shape = parameter->type.shape, &x = match.x->type.shape;
  auto rank = static_cast<size_t>(-match.axis);
  if (parameter->type.element != match.x->type.element || !shape.has_rank() || !x.has_rank() || x.rank() < rank) {
    return false;
  }
  DimVector row(x.dims().end() - static_cast<ptrdiff_t>(rank), x.dims().end());
  return same_shape(shape, SymbolicShape(std::move(row)));
}

bool fuse_layer_normalization_at(Node& division, const PassContext& context) {
  Graph& graph = division.graph();
  auto match = match_division(division.input(0), division.input(1), graph);
  if (!match || !is_fusable_type(match->x)) return false;
  Node* product = only_user(division.output(0), "Mul");
  ValueInfo* scale = product ? other_input(*product, division.output(0)) : nullptr;
  if (!scale || product->opset < 7 || !fits_row(scale, *match) || !may_fuse(*product, context)) return false;
  Node* last = product;
  std::vector<ValueInfo*> inputs = {match->x, scale};
  Node* add = only_user(product->output(0), "Add");
  ValueInfo* bias = add ? other_input(*add, product->output(0)) : nullptr;
  if (bias && add->opset >= 7 && fits_row(bias, *match) && may_fuse(*add, context)) {
    inputs.push_back(bias);
    last = add;
  }
  ValueInfo* result = last->output(0);
  last->set_output(0, nullptr);
  Node* node = graph.add_node(last->name, "LayerNormalization", "", std::move(inputs), {result});
  node->provider = last->provider;
  node->opset = division.opset;
  node->set_attribute("axis", match->axis);
  node->set_attribute("epsilon", static_cast<float>(match->epsilon));
  context.resolve(*node);
  return true;
}

}  // namespace

bool fuse_layer_normalization(Graph& graph, const PassContext& context) {
  bool changed = false;
  for (size_t i = 0, count = graph.nodes().size(); i < count; ++i) {
    Node& node = *graph.nodes()[i];
    if (!is_op(node, "Div") || node.opset < 7 || node.inputs().size() != 2) continue;
    if (may_fuse(node, context) && is_used(node)) changed |= fuse_layer_normalization_at(node, context);
  }
  return changed;
}

}  // namespace ortolan::passes
