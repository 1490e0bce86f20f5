// Removes nodes that hand their input on unchanged: Identity, Dropout in inference, Cast to the same type, Reshape to
// the same shape, Transpose that keeps the order, Concat of one, Pad by nothing, Slice of all, Mul and Div by one, and
// views that undo each other.
#include <algorithm>

#include "passes/edit.h"
#include "passes/pass.h"

namespace ortolan::passes {
namespace {

constexpr std::string_view kViews[] = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"};
constexpr std::string_view kShapeOps[] = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Expand"};
constexpr std::string_view kVariadic[] = {"Concat", "Sum", "Max", "Min", "Mean"};
constexpr int kLongestChain = 16;
constexpr int64_t kMostPads = 64;

bool is_inference_dropout(const Node& node) {
  if (!is_op(node, "Dropout") || node.opset < 7) return false;
  const ValueInfo* mask = node.output(1);
  if (mask && (mask->is_output || !mask->consumers.empty())) return false;
  if (node.opset < 12 || !node.input(2)) return true;
  const Tensor* training = constant_input(node, 2);
  return training && training->type() == ElementType::kBool && training->element_count() == 1 &&
         !*training->data<bool>();
}

bool keeps_type(const Node& node) {
  const TypeInfo& from = node.input(0)->type;
  const TypeInfo& to = node.output(0)->type;
  return from.is_tensor() && to.is_tensor() && from.element == to.element && from.element != ElementType::kUndefined;
}

bool keeps_shape(const Node& node) {
  return keeps_type(node) && same_shape(node.input(0)->type.shape, node.output(0)->type.shape);
}

bool keeps_order(const Node& node) {
  const std::vector<int64_t>& order = node.ints("perm");
  const SymbolicShape& shape = node.input(0)->type.shape;
  if (order.empty()) return shape.has_rank() && shape.rank() <= 1;
  return std::ranges::is_sorted(order);
}

/** Pad by nothing: the attribute at first, then a constant input. */
bool pads_nothing(const Node& node) {
  if (node.opset < 2) return false;
  std::vector<int64_t> pads = node.ints("pads");
  if (node.opset >= 11) {
    const Tensor* tensor = constant_input(node, 1);
    if (!tensor || tensor->type() != ElementType::kInt64 || tensor->element_count() > kMostPads) return false;
    pads = to_int64s(*tensor);
  }
  return keeps_type(node) && std::ranges::all_of(pads, [](int64_t pad) { return pad == 0; });
}

/** Slice, with positive steps, of a shape that stays the same. */
bool slices_nothing(const Node& node) {
  if (!keeps_shape(node)) return false;
  if (node.opset < 10 || !node.input(4)) return true;
  const Tensor* steps = constant_input(node, 4);
  if (!steps || steps->element_count() > kMostPads) return false;
  return std::ranges::all_of(to_int64s(*steps), [](int64_t step) { return step == 1; });
}

bool is_times_one(const Node& node) {
  return (is_op(node, "Mul") || is_op(node, "Div")) && node.opset >= 7 && keeps_shape(node) &&
         only_element(stored_input(node, 1)) == 1.0;
}

bool hands_on(const Node& node) {
  if (is_op(node, "Identity") || is_inference_dropout(node)) return true;
  if (is_op(node, "Cast") || is_op(node, "CastLike")) return keeps_type(node);
  if (is_op(node, "Transpose")) return keeps_order(node);
  if (is_op(node, "Pad")) return pads_nothing(node);
  if (is_op(node, "Slice")) return slices_nothing(node);
  if (is_one_of(node, kVariadic)) return node.inputs().size() == 1;
  if (is_one_of(node, kShapeOps)) return keeps_shape(node);
  return is_times_one(node);
}

/** The value, some views earlier, that has the node's output's very shape; NULL if none. */
ValueInfo* undone(const Node& node) {
  if (!is_one_of(node, kViews)) return nullptr;
  const SymbolicShape& shape = node.output(0)->type.shape;
  const Node* at = &node;
  for (int i = 0; i < kLongestChain; ++i) {
    ValueInfo* before = at->input(0);
    if (!before || before->graph != &node.graph()) return nullptr;
    if (same_shape(before->type.shape, shape)) return before;
    at = before->producer;
    if (!at || !is_one_of(*at, kViews)) return nullptr;
  }
  return nullptr;
}

}  // namespace

bool remove_no_ops(Graph& graph, const PassContext&) {
  bool changed = false;
  for (const auto& node : graph.nodes()) {
    if (!node->input(0) || !is_used(*node)) continue;
    if (hands_on(*node)) {
      changed |= bypass(*node, node->input(0));
    } else if (ValueInfo* before = undone(*node)) {
      changed |= bypass(*node, before);
    }
  }
  return changed;
}

}  // namespace ortolan::passes
