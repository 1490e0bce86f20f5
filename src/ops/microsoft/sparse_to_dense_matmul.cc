// SparseToDenseMatMul: alpha * op(A) * op(B) for a sparse matrix A (COO or CSR) and a dense matrix B. A constant A that
// was made dense while the model was read is taken as well.
#include "ops/shape_rules.h"

namespace ortolan::ops::microsoft {
namespace {

void sparse_to_dense_matmul(InferContext& context) {
  ElementType element = context.element(1);
  require(context.element(0) == ElementType::kUndefined || element == ElementType::kUndefined ||
              context.element(0) == element,
          ErrorCode::kInvalidGraph, "A is of ", name_of(context.element(0)), " but B of ", name_of(element),
          "; make them equal");
  context.require_rank(0, 2, 2);
  context.require_rank(1, 2, 2);
  bool trans_a = context.node().int_or("transA", 0) != 0, trans_b = context.node().int_or("transB", 0) != 0;
  DimVector dims(2, Dim());
  Dim inner_a, inner_b;
  if (context.has_shape(0)) dims[0] = context.shape(0)[trans_a], inner_a = context.shape(0)[!trans_a];
  if (context.has_shape(1)) dims[1] = context.shape(1)[!trans_b], inner_b = context.shape(1)[trans_b];
  require(!inner_a.known() || !inner_b.known() || inner_a.value() == inner_b.value(), ErrorCode::kInvalidArgument,
          "the matrices do not fit: ", context.shape(0), " times ", context.shape(1),
          "; their inner dimensions must be equal");
  context.set_output(0, element, dims);
}

constexpr TypeSet kMatrixTypes =
    kFloat32And64 | ElementType::kInt32 | ElementType::kInt64 | ElementType::kUInt32 | ElementType::kUInt64;

constexpr SchemaRow kRows[] = {
    {"com.microsoft",
     "SparseToDenseMatMul",
     1,
     kLatest,
     2,
     1,
     sparse_to_dense_matmul,
     {{0, kMatrixTypes}, {1, kMatrixTypes}}},
};

}  // namespace

extern const SchemaTable sparse_to_dense_matmul_rows;
const SchemaTable sparse_to_dense_matmul_rows(kRows);
}  // namespace ortolan::ops::microsoft
