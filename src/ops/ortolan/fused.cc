// Operators of the runtime's own domain "ortolan", which only rewrites make: ONNX operators with more done to the
// result before it is stored. Attributes ortolan.activation and ortolan.activation_params name the function applied
// last. Conv has a fourth input, added before that; MatMul has a bias (one value a column) and an addend (of the
// result's shape), and attribute ortolan.alpha, a factor of the product. MatMulIntegerToFloat is com.microsoft's with
// an addend as eighth input. Attention is ONNX's of opset 23, but a query of keys that are all -inf gives NaN.
// As a last output, MatMulIntegerToFloat, Attention and LayerNormalization give the range of their result, low and high
// and 0 among them, which DynamicQuantizeLinear takes as second input.
#include "ops/shape_rules.h"

namespace ortolan::ops::ortolan {
namespace {

/** The rule of the ONNX operator that the node is made of. */
template <const char* const& kName>
void as_in_onnx(InferContext& context) {
  find_schema("", kName, 23)->rule(context);
}

/** The same, with the range of the first output, low and high, as output `kOutput`. */
template <const char* const& kName, size_t kOutput>
void with_range(InferContext& context) {
  as_in_onnx<kName>(context);
  context.set_output(kOutput, ElementType::kFloat, Shape{2});
}

constexpr const char* kAttention = "Attention";
constexpr const char* kConv = "Conv";
constexpr const char* kGemm = "Gemm";
constexpr const char* kLayerNormalization = "LayerNormalization";
constexpr const char* kMatMul = "MatMul";
constexpr const char* kQuantize = "DynamicQuantizeLinear";

void matmul_integer_to_float(InferContext& context) {
  find_schema("com.microsoft", "MatMulIntegerToFloat", 1)->rule(context);
  context.set_output(1, ElementType::kFloat, Shape{2});
}

constexpr SchemaRow kRows[] = {
    {"ortolan", "Activation", 1, kLatest, 1, 1, same_as_first_input, {{0, kFloat32AndHalf, 'T'}}},
    {"ortolan", "Attention", 1, kLatest, {3, 4}, {1, 5}, with_range<kAttention, 4>, {{kTheRest, ElementType::kFloat}}},
    {"ortolan", "Conv", 1, kLatest, {2, 4}, 1, as_in_onnx<kConv>, {{kTheRest, kFloat32AndHalf, 'T'}}},
    {"ortolan",
     "DynamicQuantizeLinear",
     1,
     kLatest,
     {1, 2},
     3,
     as_in_onnx<kQuantize>,
     {{kTheRest, ElementType::kFloat}}},
    {"ortolan", "Gemm", 1, kLatest, {2, 3}, 1, as_in_onnx<kGemm>, {{kTheRest, kFloat32AndHalf, 'T'}}},
    {"ortolan",
     "LayerNormalization",
     1,
     kLatest,
     {2, 3},
     {1, 4},
     with_range<kLayerNormalization, 3>,
     {{kTheRest, ElementType::kFloat}}},
    {"ortolan", "MatMul", 1, kLatest, {2, 4}, 1, as_in_onnx<kMatMul>, {{kTheRest, kFloat32AndHalf, 'T'}}},
    {"ortolan",
     "MatMulIntegerToFloat",
     1,
     kLatest,
     {4, 8},
     {1, 2},
     matmul_integer_to_float,
     {{0, kByteTypes, 'A'},
      {1, kByteTypes, 'B'},
      {4, kByteTypes, 'A'},
      {5, kByteTypes, 'B'},
      {kTheRest, kFloat32AndHalf, 'T'}}},
};

}  // namespace

extern const SchemaTable fused_rows;
const SchemaTable fused_rows(kRows);
}  // namespace ortolan::ops::ortolan
