// Matrix products of quantised integers: MatMulIntegerToFloat (float results), DynamicQuantizeMatMul (A is quantised on
// the way), QGemm (float results, or bytes where the output's zero point is given) and MatMulInteger16.
#include "ops/product_rules.h"
#include "ops/shape_rules.h"

namespace ortolan::ops::microsoft {
namespace {

void matmul_integer_to_float(InferContext& context) {
  context.set_output(0, context.element(2), product_shape(context, 0, 1));
}

void dynamic_quantize_matmul(InferContext& context) {
  context.set_output(0, context.element(0), product_shape(context, 0, 1));
}

void matmul_integer16(InferContext& context) {
  bool is_unsigned = context.element(0) == ElementType::kUInt16 && context.element(1) == ElementType::kUInt16;
  context.set_output(0, is_unsigned ? ElementType::kUInt32 : ElementType::kInt32, product_shape(context, 0, 1));
}

void qgemm(InferContext& context) {
  context.require_rank(0, 2, 2);
  context.require_rank(3, 2, 2);
  ElementType type = context.has_input(8) ? context.element(8) : ElementType::kFloat;
  bool trans_a = context.node().int_or("transA", 0) != 0, trans_b = context.node().int_or("transB", 0) != 0;
  Dim m, n, left, right;
  if (context.has_shape(0)) m = context.shape(0)[trans_a], left = context.shape(0)[!trans_a];
  if (context.has_shape(3)) n = context.shape(3)[!trans_b], right = context.shape(3)[trans_b];
  require(!left.known() || !right.known() || left == right, ErrorCode::kInvalidArgument, "A is ", context.shape(0),
          " and B ", context.shape(3), "; with transA ", trans_a, " and transB ", trans_b,
          " their inner dimensions differ");
  context.set_output(0, type, DimVector{m, n});
}

constexpr SchemaRow kRows[] = {
    {"com.microsoft",
     "MatMulIntegerToFloat",
     1,
     kLatest,
     {4, 7},
     1,
     matmul_integer_to_float,
     {{0, kByteTypes, 'A'},
      {1, kByteTypes, 'B'},
      {4, kByteTypes, 'A'},
      {5, kByteTypes, 'B'},
      {kTheRest, kFloat32AndHalf, 'T'}}},
    {"com.microsoft",
     "DynamicQuantizeMatMul",
     1,
     kLatest,
     {3, 5},
     1,
     dynamic_quantize_matmul,
     {{1, kByteTypes, 'B'}, {3, kByteTypes, 'B'}, {kTheRest, ElementType::kFloat}}},
    {"com.microsoft",
     "MatMulInteger16",
     1,
     kLatest,
     2,
     1,
     matmul_integer16,
     {{0, ElementType::kInt16 | ElementType::kUInt16}, {1, ElementType::kInt16 | ElementType::kUInt16}}},
    {"com.microsoft",
     "QGemm",
     1,
     kLatest,
     {6, 9},
     1,
     qgemm,
     {{0, kByteTypes, 'A'}, {2, kByteTypes, 'A'}, {3, kByteTypes, 'B'}, {5, kByteTypes, 'B'}, {8, kByteTypes}}},
};

}  // namespace

extern const SchemaTable quantized_products_rows;
const SchemaTable quantized_products_rows(kRows);
}  // namespace ortolan::ops::microsoft
