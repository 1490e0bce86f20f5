// Operators on regions of images: RoiAlign, MaxRoiPool, NonMaxSuppression. Opset 16 gives RoiAlign half-pixel
// coordinates.
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

int64_t positive(const Node& node, const char* attribute, int64_t fallback) {
  int64_t value = node.int_or(attribute, fallback);
  require(value > 0, ErrorCode::kInvalidGraph, attribute, " is ", value, "; it must be positive");
  return value;
}

/** [regions, channels, height, width]. */
void set_pooled(InferContext& context, Dim height, Dim width) {
  context.require_rank(0, 4, 4);
  context.require_rank(1, 2, 2);
  Dim regions = context.has_shape(1) ? context.shape(1)[0] : Dim();
  Dim channels = context.has_shape(0) ? context.shape(0)[1] : Dim();
  context.set_output(0, context.element(0), DimVector{regions, channels, height, width});
}

void roi_align(InferContext& context) {
  context.require_rank(2, 1, 1);
  set_pooled(context, positive(context.node(), "output_height", 1), positive(context.node(), "output_width", 1));
}

void max_roi_pool(InferContext& context) {
  const std::vector<int64_t>& shape = context.node().ints("pooled_shape");
  require(shape.size() == 2 && shape[0] > 0 && shape[1] > 0, ErrorCode::kInvalidGraph,
          "pooled_shape must hold two positive sizes");
  set_pooled(context, shape[0], shape[1]);
}

void non_max_suppression(InferContext& context) {
  context.require_rank(0, 3, 3);
  context.require_rank(1, 3, 3);
  context.set_output(0, ElementType::kInt64, DimVector{Dim(), 3});
}

constexpr SchemaRow kRows[] = {
    {"",
     "RoiAlign",
     10,
     kLatest,
     3,
     1,
     roi_align,
     {{0, kFloatTypes, 'T'}, {1, kFloatTypes, 'T'}, {2, ElementType::kInt64}}},
    {"", "MaxRoiPool", 1, kLatest, 2, 1, max_roi_pool, {{0, kFloatTypes, 'T'}, {1, kFloatTypes, 'T'}}},
    {"",
     "NonMaxSuppression",
     10,
     kLatest,
     {2, 5},
     1,
     non_max_suppression,
     {{0, ElementType::kFloat}, {1, ElementType::kFloat}, {2, ElementType::kInt64}, {kTheRest, ElementType::kFloat}}},
};

}  // namespace

extern const SchemaTable regions_rows;
const SchemaTable regions_rows(kRows);
}  // namespace ortolan::ops::onnx
