// Joins the product of bytes, as dynamically quantised models spell it: sums of MatMulInteger as floats, times the
// scales of both operands. com.microsoft.MatMulIntegerToFloat does it in one step. What quantises the left operand
// stays a node of its own, which products with one left operand share.
#include <utility>

#include "passes/edit.h"
#include "passes/extended.h"

namespace ortolan::passes {
namespace {

constexpr int kBroadcastingMul = 7;

/** True when `value` surely holds one element, and broadcasting by it cannot raise the rank of what has one. */
bool is_single(const ValueInfo* value) {
  if (!value || !value->type.is_tensor()) return false;
  const SymbolicShape& shape = value->type.shape;
  return shape.has_rank() && (shape.rank() == 0 || (shape.rank() == 1 && shape[0].is(1)));
}

/** True when `value` surely holds one element a column of `matrix`, or one. */
bool is_per_column(const ValueInfo* value, const ValueInfo& matrix) {
  if (is_single(value)) return true;
  if (!value || !value->type.is_tensor()) return false;
  const SymbolicShape &shape = value->type.shape, &columns = matrix.type.shape;
  return shape.has_rank() && shape.rank() == 1 && shape[0].same_as(columns.dims().back());
}

struct Scales {
  ValueInfo* left = nullptr;
  ValueInfo* right = nullptr;
  explicit operator bool() const { return left != nullptr; }
};

/** The two as scales of one left operand and of `right`, in this order. */
Scales scales_of(ValueInfo* a, ValueInfo* b, const ValueInfo& right) {
  if (is_single(b) && !is_single(a)) std::swap(a, b);
  bool floats = a && b && a->type.element == ElementType::kFloat && b->type.element == ElementType::kFloat;
  return floats && is_single(a) && is_per_column(b, right) ? Scales{a, b} : Scales{};
}

bool is_mul(const Node* node, const PassContext& context) {
  return node && node->opset >= kBroadcastingMul && may_fuse(*node, context);
}

/** The end of sums * (scale * scale), or of sums * scale * scale, and the scales; `last` begins as the first factor. */
Scales match_scales(Node*& last, const ValueInfo* sums, const ValueInfo& right, const PassContext& context) {
  ValueInfo* factor = other_input(*last, sums);
  if (!factor) return {};
  const Node* joined = producer_of(factor, "Mul", last->graph());
  if (joined && joined->opset >= kBroadcastingMul && joined->inputs().size() == 2) {
    if (Scales scales = scales_of(joined->input(0), joined->input(1), right)) return scales;
  }
  ValueInfo* scaled = last->output(0);
  Node* second = only_user(scaled, "Mul");
  if (!is_mul(second, context)) return {};
  last = second;
  return scales_of(factor, other_input(*second, scaled), right);
}

/** True for the operands that com.microsoft.MatMulIntegerToFloat takes. */
bool takes_operands(const Node& product) {
  const ValueInfo *a = product.input(0), *b = product.input(1);
  if (!a || !b || !b->type.shape.has_rank() || b->type.shape.rank() < 2) return false;
  return (!product.input(2) || is_single(product.input(2))) &&
         (!product.input(3) || is_per_column(product.input(3), *b));
}

bool fuse_integer_product_at(Node& product, const PassContext& context) {
  Node* cast = only_user(product.output(0), "Cast");
  if (!cast || !may_fuse(*cast, context) || !takes_operands(product)) return false;
  ValueInfo* sums = cast->output(0);
  if (!sums || sums->type.element != ElementType::kFloat) return false;
  Node* last = only_user(sums, "Mul");
  if (!is_mul(last, context)) return false;
  Scales scales = match_scales(last, sums, *product.input(1), context);
  if (!scales) return false;
  std::vector<ValueInfo*> inputs = {product.input(0), product.input(1), scales.left, scales.right};
  if (product.input(2) || product.input(3)) inputs.push_back(product.input(2));
  if (product.input(3)) inputs.push_back(product.input(3));
  replace_node(*last, "MatMulIntegerToFloat", "com.microsoft", std::move(inputs), context);
  return true;
}

}  // namespace

bool fuse_integer_products(Graph& graph, const PassContext& context) {
  bool changed = false;
  for (size_t i = 0, count = graph.nodes().size(); i < count; ++i) {
    Node& node = *graph.nodes()[i];
    if (is_op(node, "MatMulInteger") && may_fuse(node, context) && is_used(node))
      changed |= fuse_integer_product_at(node, context);
  }
  return changed;
}

}  // namespace ortolan::passes
