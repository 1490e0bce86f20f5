// Joins a Transpose or Cast with one right before it, and a Reshape with a view; what cancels out is removed.
#include <algorithm>

#include "passes/pass.h"
#include "passes/transpose_order.h"

namespace ortolan::passes {
namespace {

bool join_transposes(Node& node, const Graph& graph) {
  const Node* inner = producer_of(node.input(0), "Transpose", graph);
  if (!inner || !inner->input(0)) return false;
  auto order = composed(order_of(*inner), order_of(node));
  if (order.empty()) return false;
  if (std::ranges::is_sorted(order)) return bypass(node, inner->input(0));
  node.set_input(0, inner->input(0));
  node.set_attribute("perm", std::move(order));
  return true;
}

/** True when every value of `from` is one of `to` too. */
bool is_lossless(ElementType from, ElementType to) {
  using enum ElementType;
  constexpr TypeSet kUpTo8 = kInt8 | kUInt8;
  constexpr TypeSet kUpTo16 = kUpTo8 | kInt16 | kUInt16;
  switch (to) {
    case kFloat:
      return (kUpTo16 | kFloat16 | kBFloat16).contains(from);
    case kDouble:
      return (kUpTo16 | kInt32 | kUInt32 | kFloat16 | kBFloat16 | kFloat).contains(from);
    case kInt64:
      return (kUpTo16 | kInt32 | kUInt32).contains(from);
    case kInt32:
      return kUpTo16.contains(from);
    case kInt16:
      return kUpTo8.contains(from);
    case kUInt64:
      return (TypeSet(kUInt8) | kUInt16 | kUInt32).contains(from);
    case kUInt32:
      return (TypeSet(kUInt8) | kUInt16).contains(from);
    case kUInt16:
      return from == kUInt8;
    default:
      return false;
  }
}

bool join_casts(Node& node, const Graph& graph) {
  const Node* inner = producer_of(node.input(0), "Cast", graph);
  if (!inner || !inner->input(0)) return false;
  const TypeInfo& first = inner->input(0)->type;
  const TypeInfo& between = node.input(0)->type;
  if (!first.is_tensor() || !is_lossless(first.element, between.element)) return false;
  const TypeInfo& last = node.output(0)->type;
  if (last.is_tensor() && last.element == first.element) return bypass(node, inner->input(0));
  // From here on the kernel must convert straight from the first type: only the plain numbers are sure to.
  if (!kNumericTypes.contains(first.element) || !kNumericTypes.contains(last.element)) return false;
  node.set_input(0, inner->input(0));
  return true;
}

/** True for a view of which only the elements, not the shape, matter to what comes after. */
bool is_view(const Node& node) {
  return is_op(node, "Reshape") || is_op(node, "Flatten") || is_op(node, "Squeeze") || is_op(node, "Unsqueeze");
}

/** A Reshape to a constant shape that copies no dimension of its input needs no view before it. */
bool join_views(Node& node, const Graph& graph) {
  ValueInfo* between = node.input(0);
  if (!between || !between->producer || between->graph != &graph || !is_view(*between->producer)) return false;
  const Tensor* shape = constant_input(node, 1);
  if (!shape || shape->type() != ElementType::kInt64 || shape->rank() != 1) return false;
  if (!std::ranges::all_of(shape->span<int64_t>(), [](int64_t dim) { return dim != 0; })) return false;
  ValueInfo* first = between->producer->input(0);
  if (!first) return false;
  node.set_input(0, first);
  return true;
}

}  // namespace

bool join_pairs(Graph& graph, const PassContext&) {
  bool changed = false;
  for (const auto& node : graph.nodes()) {
    if (!is_used(*node)) continue;
    if (is_op(*node, "Transpose") && node->input(0)) changed |= join_transposes(*node, graph);
    if (is_op(*node, "Cast")) changed |= join_casts(*node, graph);
    if (is_op(*node, "Reshape")) changed |= join_views(*node, graph);
  }
  return changed;
}

}  // namespace ortolan::passes
