// Softmax, LogSoftmax, Hardmax along attribute axis. Before opset 13 the input counted as a matrix, with all dimensions
// from axis on in a row, and axis defaulted to 1; since then axis is one dimension and defaults to the last.
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

void softmax_shape(InferContext& context) {
  if (context.has_shape(0)) {
    size_t rank = context.shape(0).rank();
    int64_t axis = context.node().int_or("axis", context.opset() < 13 ? 1 : -1);
    bool past_the_end = context.opset() < 13 && axis == static_cast<int64_t>(rank);  // rows of one element
    bool scalar = rank == 0 && (axis == 0 || axis == -1);
    if (!past_the_end && !scalar) checked_axis(axis, rank);
  }
  context.set_output_like(0, 0);
}

constexpr SchemaRow row(const char* name) {
  return {"", name, 1, kLatest, 1, 1, softmax_shape, {{0, kFloatTypes, 'T'}}};
}

constexpr SchemaRow kRows[] = {row("Softmax"), row("LogSoftmax"), row("Hardmax")};

}  // namespace

extern const SchemaTable softmax_rows;
constinit const SchemaTable softmax_rows(kRows);

}  // namespace ortolan::ops::onnx
