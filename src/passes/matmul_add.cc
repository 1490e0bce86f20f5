// MatMul of matrices followed by the addition of what broadcasts to the product becomes Gemm.
#include "passes/edit.h"
#include "passes/pass.h"

namespace ortolan::passes {
namespace {

constexpr TypeSet kGemmTypes = kFloat32And64 | ElementType::kFloat16;
constexpr int kFirstBroadcastingGemm = 7;

/** True when `from` surely broadcasts to `to`, which is a matrix. */
bool broadcasts_to(const SymbolicShape& from, const SymbolicShape& to) {
  if (!from.has_rank() || from.rank() > 2) return false;
  for (size_t i = 0; i < from.rank(); ++i) {
    if (!from[i].is(1) && !from[i].same_as(to[to.rank() - from.rank() + i])) return false;
  }
  return true;
}

bool is_matrix(const ValueInfo* value) {
  return value && value->type.is_tensor() && kGemmTypes.contains(value->type.element) && value->type.shape.has_rank() &&
         value->type.shape.rank() == 2;
}

bool join_with_add(Node& product, const PassContext& context) {
  ValueInfo* matrix = product.output(0);
  if (product.opset < kFirstBroadcastingGemm || !is_matrix(product.input(0)) || !is_matrix(product.input(1)) ||
      !is_matrix(matrix) || !used_once(*matrix)) {
    return false;
  }
  Node& add = *matrix->consumers.front();
  if (!is_op(add, "Add") || add.opset < kFirstBroadcastingGemm || add.inputs().size() != 2) return false;
  ValueInfo* addend = add.input(add.input(0) == matrix ? 1 : 0);
  if (!addend || addend->type.element != matrix->type.element ||
      !broadcasts_to(addend->type.shape, matrix->type.shape)) {
    return false;
  }
  product.op_type = "Gemm";
  product.set_input(2, addend);
  context.resolve(product);
  return bypass(add, matrix);
}

}  // namespace

bool join_matmul_add(Graph& graph, const PassContext& context) {
  bool changed = false;
  for (const auto& node : graph.nodes()) {
    if (is_op(*node, "MatMul") && node->inputs().size() == 2) changed |= join_with_add(*node, context);
  }
  return changed;
}

}  // namespace ortolan::passes
