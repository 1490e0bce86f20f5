// Matrix products by numpy's matmul rule: MatMul, MatMulInteger, QLinearMatMul. Versions differ in types only.
#include "ops/product_rules.h"
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

constexpr TypeSet kMatMulTypes =
    kFloatTypes | ElementType::kInt32 | ElementType::kInt64 | ElementType::kUInt32 | ElementType::kUInt64;

DimVector batch_of(const DimVector& dims) {
  return dims.size() <= 2 ? DimVector{} : DimVector(dims.begin(), dims.end() - 2);
}

}  // namespace
}  // namespace ortolan::ops::onnx

ortolan::ops::SymbolicShape ortolan::ops::product_shape(const InferContext& context, size_t left, size_t right) {
  context.require_rank(left, 1, SIZE_MAX);
  context.require_rank(right, 1, SIZE_MAX);
  if (!context.has_shape(left) || !context.has_shape(right)) return {};
  const DimVector& a = context.shape(left).dims();
  const DimVector& b = context.shape(right).dims();
  Dim inner_a = a.back();
  Dim inner_b = b.size() == 1 ? b[0] : b[b.size() - 2];
  require(!inner_a.known() || !inner_b.known() || inner_a.value() == inner_b.value(), ErrorCode::kInvalidArgument,
          "the matrices do not fit: ", context.shape(left), " times ", context.shape(right),
          "; the last dimension of the first must equal the last but one of the second");
  DimVector dims = broadcast(SymbolicShape(onnx::batch_of(a)), SymbolicShape(onnx::batch_of(b))).dims();
  if (a.size() > 1) dims.push_back(a[a.size() - 2]);
  if (b.size() > 1) dims.push_back(b.back());
  return dims;
}

namespace ortolan::ops::onnx {
namespace {

void matmul(InferContext& context) { context.set_output(0, context.element(0), product_shape(context, 0, 1)); }

void matmul_integer(InferContext& context) { context.set_output(0, ElementType::kInt32, product_shape(context, 0, 1)); }

void qlinear_matmul(InferContext& context) { context.set_output(0, context.element(7), product_shape(context, 0, 3)); }

constexpr SchemaRow kRows[] = {
    {"", "MatMul", 1, kLatest, 2, 1, matmul, {{kTheRest, kMatMulTypes, 'T'}}},
    {"",
     "MatMulInteger",
     10,
     kLatest,
     {2, 4},
     1,
     matmul_integer,
     {{0, kByteTypes, 'A'}, {1, kByteTypes, 'B'}, {2, kByteTypes, 'A'}, {3, kByteTypes, 'B'}}},
    {"",
     "QLinearMatMul",
     10,
     20,
     8,
     1,
     qlinear_matmul,
     {{0, kByteTypes, 'A'}, {2, kByteTypes, 'A'}, {3, kByteTypes, 'B'}, {5, kByteTypes, 'B'}, {7, kByteTypes}}},
    {"",
     "QLinearMatMul",
     21,
     kLatest,
     8,
     1,
     qlinear_matmul,
     {{0, kByteTypes | kFloat8Types, 'A'},
      {2, kByteTypes | kFloat8Types, 'A'},
      {3, kByteTypes | kFloat8Types, 'B'},
      {5, kByteTypes | kFloat8Types, 'B'},
      {7, kByteTypes | kFloat8Types}}},
};

}  // namespace

extern const SchemaTable matmul_rows;
const SchemaTable matmul_rows(kRows);
}  // namespace ortolan::ops::onnx
