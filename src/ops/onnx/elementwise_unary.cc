// Operators that map each element of one input to one element of the output, type and shape unchanged. Versions differ
// in element types, and before opset 6 in attribute consumed_inputs, which never had an effect.
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

constexpr SchemaRow row(const char* name, int since, TypeSet types) {
  return {"", name, since, kLatest, 1, 1, same_as_first_input, {{0, types, 'T'}}};
}

constexpr TypeSet kSignedNumbers = kFloatTypes | kSignedTypes;

constexpr SchemaRow kRows[] = {
    row("Abs", 1, kNumericTypes),      row("Acos", 7, kFloatTypes),
    row("Acosh", 9, kFloatTypes),      row("Asin", 7, kFloatTypes),
    row("Asinh", 9, kFloatTypes),      row("Atan", 7, kFloatTypes),
    row("Atanh", 9, kFloatTypes),      row("BitwiseNot", 18, kIntegerTypes),
    row("Ceil", 1, kFloatTypes),       row("Celu", 12, kFloatTypes),
    row("Cos", 7, kFloatTypes),        row("Cosh", 9, kFloatTypes),
    row("Elu", 1, kFloatTypes),        row("Erf", 9, kNumericTypes),
    row("Exp", 1, kFloatTypes),        row("Floor", 1, kFloatTypes),
    row("Gelu", 20, kFloatTypes),      row("HardSigmoid", 1, kFloatTypes),
    row("HardSwish", 14, kFloatTypes), row("LeakyRelu", 1, kFloatTypes),
    row("Log", 1, kFloatTypes),        row("Mish", 18, kFloatTypes),
    row("Neg", 1, kSignedNumbers),     row("Not", 1, ElementType::kBool),
    row("Reciprocal", 1, kFloatTypes), row("Relu", 1, kSignedNumbers),
    row("Round", 11, kFloatTypes),     row("Selu", 1, kFloatTypes),
    row("Shrink", 9, kNumericTypes),   row("Sigmoid", 1, kFloatTypes),
    row("Sign", 9, kNumericTypes),     row("Sin", 7, kFloatTypes),
    row("Sinh", 9, kFloatTypes),       row("Softplus", 1, kFloatTypes),
    row("Softsign", 1, kFloatTypes),   row("Sqrt", 1, kFloatTypes),
    row("Swish", 24, kFloatTypes),     row("Tan", 7, kFloatTypes),
    row("Tanh", 1, kFloatTypes),       row("ThresholdedRelu", 1, kFloatTypes),
};

}  // namespace

extern const SchemaTable elementwise_unary_rows;
constinit const SchemaTable elementwise_unary_rows(kRows);

}  // namespace ortolan::ops::onnx
