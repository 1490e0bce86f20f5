// Computes connected operators on 16-bit floats in float, which their kernels do inside anyway: what one hands to the
// next is then neither rounded nor converted.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "passes/edit.h"
#include "passes/extended.h"

namespace ortolan::passes {
namespace {

// Operators whose floating-point inputs and outputs are all of one type. Those that only move elements gain nothing of
// their own, but hand on what others compute.
// clang-format off
constexpr std::string_view kComputing[] = {
    "Abs", "Add", "AveragePool", "BatchNormalization", "Clip", "Conv", "ConvTranspose", "Cos", "Div", "Elu", "Erf",
    "Exp", "GRU", "Gelu", "Gemm", "GlobalAveragePool", "GlobalMaxPool", "GroupNormalization", "HardSigmoid",
    "HardSwish", "InstanceNormalization", "LRN", "LSTM", "LayerNormalization", "LeakyRelu", "Log", "LogSoftmax",
    "LpNormalization", "MatMul", "Max", "MaxPool", "Mean", "Min", "Mish", "Mul", "Neg", "PRelu", "Pow",
    "RMSNormalization", "RNN", "Reciprocal", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum", "Relu", "Resize",
    "Selu", "Sigmoid", "Sin", "Softmax", "Softplus", "Softsign", "Sqrt", "Sub", "Sum", "Swish", "Tanh", "Where"};
// clang-format on
constexpr std::string_view kMoving[] = {"Concat",  "DepthToSpace", "Expand",    "Flatten",      "Identity",
                                        "Pad",     "Reshape",      "Slice",     "SpaceToDepth", "Split",
                                        "Squeeze", "Tile",         "Transpose", "Unsqueeze"};

bool is_half(const ValueInfo* value) {
  return value && value->type.is_tensor() && kHalfTypes.contains(value->type.element);
}

bool computes(const Node& node) { return is_one_of(node, kComputing); }

/** Operators on 16-bit floats, connected by such values. */
class HalfRegion {
 public:
  HalfRegion(Graph& graph, const PassContext& context) : graph_(graph), context_(context) {}

  /** Takes `seed` and what is connected with it, but for nodes in `seen`, to which all are added. */
  void grow(Node& seed, std::unordered_set<const Node*>& seen) {
    std::vector<Node*> waiting{&seed};
    while (!waiting.empty()) {
      Node* node = waiting.back();
      waiting.pop_back();
      if (!may_widen(*node) || !seen.insert(node).second) continue;
      members_.insert(node);
      nodes_.push_back(node);
      add_neighbours(*node, waiting);
    }
    leave_moves_at_the_border();
  }

  /** Whether more elements are handed on inside than have to be converted at the border. */
  bool pays() const {
    double inside = 0, border = 0;
    for (const ValueInfo* x : entering()) border += x->is_fixed() ? 0 : likely_size(*x);
    for (const ValueInfo* y : results()) {
      if (is_used_outside(*y)) border += likely_size(*y);
      if (is_used_inside(*y)) inside += likely_size(*y);
    }
    return inside > border;
  }

  void widen() {
    for (ValueInfo* y : results()) widen_result(*y);
    for (Node* node : nodes_) {
      for (size_t i = 0; i < node->inputs().size(); ++i) {
        if (is_half(node->input(i))) node->set_input(i, widened(*node->input(i)));
      }
      context_.resolve(*node);
    }
  }

 private:
  bool contains(const Node* node) const { return members_.contains(node); }
  bool is_made_here(const ValueInfo& value) const { return value.producer && contains(value.producer); }
  bool may_widen(const Node& node) const {
    if (&node.graph() != &graph_ || !may_fuse(node, context_) || !is_used(node)) return false;
    return (computes(node) || is_one_of(node, kMoving)) && is_half(node.output(0)) &&
           std::ranges::any_of(node.inputs(), is_half);
  }
  bool is_used_inside(const ValueInfo& value) const {
    return std::ranges::any_of(value.consumers, [&](const Node* user) { return contains(user); });
  }
  bool is_used_outside(const ValueInfo& value) const {
    return value.is_output || !std::ranges::all_of(value.consumers, [&](const Node* user) { return contains(user); });
  }

  std::vector<ValueInfo*> entering() const {
    std::vector<ValueInfo*> values;
    std::unordered_set<const ValueInfo*> seen;
    for (const Node* node : nodes_) {
      for (ValueInfo* x : node->inputs()) {
        if (is_half(x) && !is_made_here(*x) && seen.insert(x).second) values.push_back(x);
      }
    }
    return values;
  }

  std::vector<ValueInfo*> results() const {
    std::vector<ValueInfo*> values;
    for (const Node* node : nodes_) {
      for (ValueInfo* y : node->outputs()) {
        if (is_half(y)) values.push_back(y);
      }
    }
    return values;
  }

  /** Nodes that move what comes from outside, or goes there, move it as it is: caches, for example. */
  void leave_moves_at_the_border() {
    std::vector<Node*> waiting = nodes_;
    while (!waiting.empty()) {
      Node* node = waiting.back();
      waiting.pop_back();
      if (!contains(node) || !is_move_at_border(*node)) continue;
      members_.erase(node);
      add_neighbours(*node, waiting);
    }
    std::erase_if(nodes_, [&](const Node* node) { return !contains(node); });
  }
  static void add_neighbours(const Node& node, std::vector<Node*>& to) {
    for (const ValueInfo* x : node.inputs()) {
      if (is_half(x) && x->producer) to.push_back(x->producer);
    }
    for (const ValueInfo* y : node.outputs()) {
      if (is_half(y)) to.insert(to.end(), y->consumers.begin(), y->consumers.end());
    }
  }
  bool is_move_at_border(const Node& node) const {
    if (computes(node)) return false;
    const bool from_outside = std::ranges::any_of(
        node.inputs(), [&](const ValueInfo* x) { return is_half(x) && !x->is_fixed() && !is_made_here(*x); });
    return from_outside || std::ranges::any_of(node.outputs(), [&](const ValueInfo* y) {
             return is_half(y) && (is_used_outside(*y) || !is_used_inside(*y));
           });
  }

  void widen_result(ValueInfo& value) {
    if (!is_used_outside(value)) {
      value.type.element = ElementType::kFloat;
      return;
    }
    Node* maker = value.producer;
    ValueInfo* made = add_float("wide_" + value.name, value.type);
    maker->set_output(value.producer_output, made);
    for (auto use = value.consumers.begin(); use != value.consumers.end();) {
      auto at = use++;
      if (contains(*at)) (*at)->set_input(at.input(), made);
    }
    add_cast(*made, value);
  }

  /** What enters, as float. */
  ValueInfo* widened(ValueInfo& value) {
    ValueInfo*& known = widened_[&value];
    if (known) return known;
    known = add_float("wide_" + value.name, value.type);
    Node* cast = add_cast(value, *known);
    if (!value.is_fixed()) return known;
    if (auto content = context_.evaluate(*cast)) make_constant(*cast, 0, std::move((*content)[0]));
    return known;
  }

  ValueInfo* add_float(const std::string& name, TypeInfo type) const {
    type.element = ElementType::kFloat;
    return graph_.add_value(graph_.unique_name(name), std::move(type));
  }

  Node* add_cast(ValueInfo& from, ValueInfo& to) const {
    Node* cast = graph_.add_node(to.name, "Cast", "", {&from}, {&to});
    cast->set_attribute("to", static_cast<int64_t>(to.type.element));
    cast->opset = nodes_.front()->opset;
    cast->provider = context_.provider;
    context_.resolve(*cast);
    return cast;
  }

  Graph& graph_;
  const PassContext& context_;
  std::vector<Node*> nodes_;
  std::unordered_set<const Node*> members_;
  std::unordered_map<const ValueInfo*, ValueInfo*> widened_;
};

}  // namespace

bool widen_halves(Graph& graph, const PassContext& context) {
  bool changed = false;
  std::unordered_set<const Node*> seen;
  std::vector<Node*> nodes;
  for (const auto& node : graph.nodes()) nodes.push_back(node.get());
  for (Node* node : nodes) {
    if (!computes(*node) || seen.contains(node)) continue;
    HalfRegion region(graph, context);
    region.grow(*node, seen);
    if (!region.pays()) continue;
    region.widen();
    changed = true;
  }
  return changed;
}

}  // namespace ortolan::passes
