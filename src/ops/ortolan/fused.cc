// Operators of the runtime's own domain "ortolan", which only rewrites make: ONNX operators with more done to the
// result before it is stored. Attributes ortolan.activation and ortolan.activation_params name the function applied
// last. Conv has a fourth input, added before that; MatMul has a bias (one value a column) and an addend (of the
// result's shape), and attribute ortolan.alpha, a factor of the product. MatMulIntegerToFloat is com.microsoft's with
// an addend as eighth input. Attention is ONNX's of opset 23, but a query of keys that are all -inf gives NaN.
#include "ops/shape_rules.h"

namespace ortolan::ops::ortolan {
namespace {

constexpr TypeSet kBytes = ElementType::kInt8 | ElementType::kUInt8;
constexpr TypeSet kTypes = kHalfTypes | ElementType::kFloat;

/** The rule of the ONNX operator that the node is made of. */
template <const char* const& kName>
void as_in_onnx(InferContext& context) {
  find_schema("", kName, 23)->rule(context);
}

constexpr const char* kAttention = "Attention";
constexpr const char* kConv = "Conv";
constexpr const char* kGemm = "Gemm";
constexpr const char* kMatMul = "MatMul";

void matmul_integer_to_float(InferContext& context) {
  find_schema("com.microsoft", "MatMulIntegerToFloat", 1)->rule(context);
}

constexpr SchemaRow kRows[] = {
    {"ortolan", "Activation", 1, kLatest, 1, 1, same_as_first_input, {{0, kTypes, 'T'}}},
    {"ortolan", "Attention", 1, kLatest, {3, 4}, 1, as_in_onnx<kAttention>, {{kTheRest, ElementType::kFloat}}},
    {"ortolan", "Conv", 1, kLatest, {2, 4}, 1, as_in_onnx<kConv>, {{kTheRest, kTypes, 'T'}}},
    {"ortolan", "Gemm", 1, kLatest, {2, 3}, 1, as_in_onnx<kGemm>, {{kTheRest, kTypes, 'T'}}},
    {"ortolan", "MatMul", 1, kLatest, {2, 4}, 1, as_in_onnx<kMatMul>, {{kTheRest, kTypes, 'T'}}},
    {"ortolan",
     "MatMulIntegerToFloat",
     1,
     kLatest,
     {4, 8},
     1,
     matmul_integer_to_float,
     {{0, kBytes, 'A'}, {1, kBytes, 'B'}, {4, kBytes, 'A'}, {5, kBytes, 'B'}, {kTheRest, kTypes, 'T'}}},
};

}  // namespace

extern const SchemaTable fused_rows;
const SchemaTable fused_rows(kRows);
}  // namespace ortolan::ops::ortolan
