// Clip: limits elements to [min, max]. The limits are attributes before opset 11, optional scalar inputs since.
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

constexpr SchemaRow kRows[] = {
    {"", "Clip", 1, 10, 1, 1, same_as_first_input, {{0, kFloatTypes, 'T'}}},
    {"",
     "Clip",
     11,
     kLatest,
     {1, 3},
     1,
     same_as_first_input,
     {{0, kNumericTypes, 'T'}, {kTheRest, kNumericTypes, 'T'}}},
};

}  // namespace

extern const SchemaTable clip_rows;
constinit const SchemaTable clip_rows(kRows);

}  // namespace ortolan::ops::onnx
