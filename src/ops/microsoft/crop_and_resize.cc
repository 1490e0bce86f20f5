// CropAndResize: boxes cut out of images and resized to one size, corners aligned. crop_size is [height, width]; boxes
// are [y1, x1, y2, x2] with 0 and 1 at the centres of an image's outermost pixels.
#include "ops/element_dims.h"
#include "ops/shape_rules.h"

namespace ortolan::ops::microsoft {
namespace {

void check_size(const InferContext& context) {
  context.require_rank(3, 1, 1);
  auto sizes = context.int64s(3);
  if (!sizes) return;
  require(sizes->size() == 2, ErrorCode::kInvalidArgument, "crop_size has ", sizes->size(),
          " values; it must be [height, width]");
  for (int64_t size : *sizes) {
    require(size > 0, ErrorCode::kInvalidArgument, "crop_size holds ", size, "; sizes must be positive");
  }
}

void crop_and_resize(InferContext& context) {
  context.require_rank(0, 4, 4);
  context.require_rank(1, 2, 2);
  context.require_rank(2, 1, 1);
  check_size(context);
  Dim boxes = context.has_shape(2) ? context.shape(2)[0] : context.has_shape(1) ? context.shape(1)[0] : Dim();
  DimVector dims{boxes, context.has_shape(0) ? context.shape(0)[1] : Dim(), Dim(), Dim()};
  if (auto sizes = element_dims(context, 3); sizes && sizes->size() == 2) dims[2] = (*sizes)[0], dims[3] = (*sizes)[1];
  context.set_output(0, context.element(0), dims);
}

constexpr SchemaRow kRows[] = {
    {"com.microsoft",
     "CropAndResize",
     1,
     kLatest,
     4,
     1,
     crop_and_resize,
     {{0, kFloatTypes, 'T'}, {1, kFloatTypes, 'T'}, {2, ElementType::kInt32}, {3, ElementType::kInt32}}},
};

}  // namespace

extern const SchemaTable crop_and_resize_rows;
const SchemaTable crop_and_resize_rows(kRows);
}  // namespace ortolan::ops::microsoft
