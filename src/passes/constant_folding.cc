// Constant folding: nodes whose outputs are the same in every run are computed once, unless that would take much
// memory. Quantised constants wait until quantised operators have been found.
#include <algorithm>

#include "ops/schema.h"
#include "passes/edit.h"
#include "passes/pass.h"

namespace ortolan::passes {
namespace {

constexpr size_t kAlwaysFine = 1 << 20;    // bytes of outputs that may always be kept
constexpr size_t kMostGrowth = 4;          // larger ones may be so many times the constants that they are made of
constexpr size_t kFineWeights = 64 << 20;  // of what would else be made and packed as weights in each run

bool is_candidate(const Node& node) {
  if (!node.schema || (node.schema->flags & (ops::kNonDeterministic | ops::kCustom)) || !node.subgraphs().empty()) {
    return false;
  }
  auto is_fixed = [](const ValueInfo* value) { return !value || value->is_fixed(); };
  return !is_dead(node) && std::ranges::all_of(node.inputs(), is_fixed);
}

/** The bytes of the inputs, and of those that nobody else needs. */
struct InputBytes {
  size_t all = 0;
  size_t freed = 0;
};

InputBytes bytes_of_inputs(const Node& node) {
  InputBytes bytes;
  for (const ValueInfo* value : node.inputs()) {
    if (!value) continue;
    size_t own = value->constant->byte_count();
    bytes.all += own;
    if (value->consumers.size() == 1 && !value->is_output) bytes.freed += own;
  }
  return bytes;
}

bool makes_weights(const Node& node) {
  constexpr std::string_view kPacking[] = {"Conv", "ConvTranspose", "Gemm", "MatMul"};
  const ValueInfo* output = node.output(0);
  if (!output || output->consumers.empty() || node.outputs().size() != 1) return false;
  return std::ranges::all_of(output->consumers, [&](const Node* user) {
    return std::ranges::find(kPacking, user->op_type) != std::end(kPacking) && user->input(1) == output;
  });
}

size_t most_bytes(const Node& node) {
  return std::max(makes_weights(node) ? kFineWeights : kAlwaysFine, kMostGrowth * bytes_of_inputs(node).all);
}

/** False when an output is known to be larger than what its inputs justify. */
bool is_small_enough(const Node& node) {
  size_t limit = most_bytes(node);
  for (const ValueInfo* value : node.outputs()) {
    if (!value || !value->type.is_tensor() || !value->type.shape.fully_known()) continue;
    if (bytes_for(value->type.element, value->type.shape.concrete().element_count()) > limit) return false;
  }
  return true;
}

/** A constant seen with another shape needs no memory of its own. */
bool fold_view(Node& node) {
  constexpr std::string_view kViews[] = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"};
  const ValueInfo* output = node.output(0);
  const Tensor* content = node.input(0) ? node.input(0)->stored_constant() : nullptr;
  if (!node.domain.empty() || std::ranges::find(kViews, node.op_type) == std::end(kViews)) return false;
  if (!content || !output->type.is_tensor() || !output->type.shape.fully_known()) return false;
  Shape shape = output->type.shape.concrete();
  if (shape.element_count() != content->element_count()) return false;
  make_constant(node, 0, content->reshaped(std::move(shape)));
  return true;
}

/** Takes what the results add to the model off the budget; false when they are too much. */
bool pay_for(const Node& node, const std::vector<Tensor>& results, int64_t& budget) {
  size_t bytes = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    if (node.output(i)) bytes += results[i].byte_count();
  }
  size_t freed = bytes_of_inputs(node).freed;
  int64_t growth = bytes > freed ? static_cast<int64_t>(bytes - freed) : 0;
  if (bytes > most_bytes(node) || growth > budget) return false;
  budget -= growth;
  return true;
}

bool fold_node(Node& node, const PassContext& context) {
  if (!is_candidate(node)) return false;
  if (fold_view(node)) return true;
  if (!is_small_enough(node) || context.folding_budget <= 0) return false;
  auto results = context.evaluate(node);
  if (!results || results->size() != node.outputs().size()) return false;
  if (!pay_for(node, *results, context.folding_budget)) return false;
  for (size_t i = 0; i < results->size(); ++i) {
    if (node.output(i)) make_constant(node, i, std::move((*results)[i]));
  }
  return true;
}

/** What shape inference knows to be in an integer tensor, as a tensor. */
std::optional<Tensor> known_content(const ValueInfo& value) {
  const TypeInfo& type = value.type;
  bool integers = type.element == ElementType::kInt64 || type.element == ElementType::kInt32;
  if (!value.content || !type.is_tensor() || !integers || !type.shape.fully_known()) return std::nullopt;
  Shape shape = type.shape.concrete();
  bool known = std::ranges::all_of(*value.content, [](Dim dim) { return dim.known(); });
  if (!known || shape.rank() > 1 || shape.element_count() != static_cast<int64_t>(value.content->size())) {
    return std::nullopt;
  }
  Tensor tensor(type.element, shape);
  for (size_t i = 0; i < value.content->size(); ++i) {
    int64_t number = (*value.content)[i].value();
    if (type.element == ElementType::kInt64) {
      tensor.mutable_data<int64_t>()[i] = number;
    } else {
      if (number > INT32_MAX) return std::nullopt;
      tensor.mutable_data<int32_t>()[i] = static_cast<int32_t>(number);
    }
  }
  return tensor;
}

bool fold_content(Node& node) {
  if (!node.schema || node.outputs().size() != 1 || !is_used(node)) return false;
  if (node.schema->flags & (ops::kNonDeterministic | ops::kCustom)) return false;
  auto content = known_content(*node.output(0));
  if (content) make_constant(node, 0, std::move(*content));
  return content.has_value();
}

}  // namespace

bool fold_constants(Graph& graph, const PassContext& context) {
  bool changed = false;
  for (const auto& node : graph.nodes()) {
    if (context.find_quantized && is_op(*node, "DequantizeLinear")) continue;
    changed |= fold_content(*node) || fold_node(*node, context);
  }
  return changed;
}

bool fold_dequantized(Graph& graph, const PassContext& context) {
  bool changed = false;
  for (const auto& node : graph.nodes()) {
    if (may_fuse(*node, context) && is_op(*node, "DequantizeLinear")) changed |= fold_node(*node, context);
  }
  return changed;
}

}  // namespace ortolan::passes
