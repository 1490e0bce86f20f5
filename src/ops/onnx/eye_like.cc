// EyeLike: a matrix of the input's shape with ones on diagonal k, of attribute dtype's type or the input's.
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

void eye_like_shape(InferContext& context) {
  context.require_rank(0, 2, 2);
  auto fallback = static_cast<int64_t>(context.element(0));
  int64_t type = context.node().int_or("dtype", fallback);
  require(type >= 0 && type < kElementTypeCount, ErrorCode::kInvalidGraph, "attribute dtype is ", type,
          "; set it to the number of an element type, 1 to ", kElementTypeCount - 1);
  context.set_output(0, static_cast<ElementType>(type), context.shape(0));
}

constexpr SchemaRow kRows[] = {
    {"", "EyeLike", 9, kLatest, 1, 1, eye_like_shape, {{0, kNumericTypes | ElementType::kBool}}}};

}  // namespace

extern const SchemaTable eye_like_rows;
constinit const SchemaTable eye_like_rows(kRows);

}  // namespace ortolan::ops::onnx
