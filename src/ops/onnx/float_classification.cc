// IsInf, IsNaN: which elements are infinite, or not a number.
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

void bool_of_same_shape(InferContext& context) { context.set_output(0, ElementType::kBool, context.shape(0)); }

constexpr TypeSet kClassifiedTypes = kFloatTypes | kFloat8Types;

constexpr SchemaRow kRows[] = {
    {"", "IsInf", 10, kLatest, 1, 1, bool_of_same_shape, {{0, kClassifiedTypes, 'T'}}},
    {"", "IsNaN", 9, kLatest, 1, 1, bool_of_same_shape, {{0, kClassifiedTypes, 'T'}}},
};

}  // namespace

extern const SchemaTable float_classification_rows;
constinit const SchemaTable float_classification_rows(kRows);

}  // namespace ortolan::ops::onnx
