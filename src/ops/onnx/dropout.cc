// Dropout: the input, and in training mode (an input since opset 12) random elements zeroed and the rest scaled.
// Before, only inference is defined here; opsets 1 to 6 ask for training by is_test = 0, which programs that infer
// never mean.
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

void dropout_shape(InferContext& context) {
  context.set_output_like(0, 0);
  ElementType mask = context.opset() < 10 ? context.element(0) : ElementType::kBool;
  context.set_output(1, mask, context.shape(0));
}

constexpr TypeSet kDroppedTypes = kFloatTypes | kFloat8Types;

constexpr SchemaRow kRows[] = {
    {"", "Dropout", 1, 11, 1, {1, 2}, dropout_shape, {{0, kFloatTypes, 'T'}}},
    {"",
     "Dropout",
     12,
     kLatest,
     {1, 3},
     {1, 2},
     dropout_shape,
     {{0, kDroppedTypes, 'T'}, {1, kDroppedTypes}, {2, ElementType::kBool}},
     kNonDeterministic},
};

}  // namespace

extern const SchemaTable dropout_rows;
constinit const SchemaTable dropout_rows(kRows);

}  // namespace ortolan::ops::onnx
