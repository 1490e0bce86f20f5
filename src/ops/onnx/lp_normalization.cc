// LpNormalization: slices along attribute axis divided by their norm, p = 1 or 2.
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

void lp_normalization_shape(InferContext& context) {
  if (context.has_shape(0)) checked_axis(context.node().int_or("axis", -1), context.shape(0).rank());
  int64_t p = context.node().int_or("p", 2);
  require(p == 1 || p == 2, ErrorCode::kInvalidGraph, "attribute p is ", p, "; set it to 1 or 2");
  context.set_output_like(0, 0);
}

constexpr SchemaRow kRows[] = {
    {"", "LpNormalization", 1, kLatest, 1, 1, lp_normalization_shape, {{0, kFloatTypes, 'T'}}}};

}  // namespace

extern const SchemaTable lp_normalization_rows;
constinit const SchemaTable lp_normalization_rows(kRows);

}  // namespace ortolan::ops::onnx
