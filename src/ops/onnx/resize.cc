// Resize (from opset 10; roi and sizes from 11, axes, antialias and keep_aspect_ratio_policy from 18) and its
// forerunner Upsample (scales an attribute before opset 9).
#include "ops/element_dims.h"
#include "ops/resize_scales.h"
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

/** Shapes with the sizes as they are known, when nothing but them decides. */
SymbolicShape shape_by_sizes(const InferContext& context, size_t sizes_input) {
  const SymbolicShape& input = context.shape(0);
  auto sizes = element_dims(context, sizes_input);
  bool stretch = context.node().string_or("keep_aspect_ratio_policy", "stretch") == "stretch";
  auto axes = resized_axes(context.node(), input.rank());
  DimVector dims = input.dims();
  for (size_t i = 0; i < axes.size(); ++i) {
    dims[axes[i]] = sizes && stretch && sizes->size() == axes.size() ? (*sizes)[i] : Dim{};
  }
  return dims;
}

SymbolicShape shape_by_scales(const InferContext& context, const std::vector<double>& scales) {
  const SymbolicShape& input = context.shape(0);
  auto axes = resized_axes(context.node(), input.rank());
  require(scales.size() == axes.size(), ErrorCode::kInvalidArgument, "scales has ", scales.size(), " entries for ",
          axes.size(), " dimensions");
  DimVector dims = input.dims();
  for (size_t i = 0; i < axes.size(); ++i) {
    Dim& dim = dims[axes[i]];
    if (scales[i] == 1) continue;
    double size = dim.known() ? static_cast<double>(dim.value()) * scales[i] : -1;
    dim = size >= 0 && size < 1e12 ? Dim(static_cast<int64_t>(size)) : Dim{};
  }
  return dims;
}

/** Inputs: scales, sizes, roi at these places; 0 stands for none. */
void set_resized(InferContext& context, size_t scales, size_t sizes, size_t roi) {
  const SymbolicShape& input = context.shape(0);
  if (!input.has_rank()) return context.set_output(0, context.element(0), {});
  auto value = [&](size_t i) { return i > 0 ? context.value(i) : nullptr; };
  ResizeWishes wishes = resize_wishes(context.node(), value(scales), value(sizes), value(roi));
  bool crop = context.node().string_or("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize";
  bool enough = (!wishes.scales.empty() || !wishes.sizes.empty()) && (!crop || !wishes.roi.empty());
  if (enough && input.fully_known()) {
    Shape shape;
    for (const ResizeAxis& axis : resize_axes(context.node(), input.concrete(), wishes)) shape.push_back(axis.to);
    return context.set_output(0, context.element(0), shape);
  }
  SymbolicShape shape = SymbolicShape::of_rank(input.rank());
  if (sizes > 0 && context.has_input(sizes) && wishes.scales.empty()) shape = shape_by_sizes(context, sizes);
  if (!wishes.scales.empty() && !crop) shape = shape_by_scales(context, wishes.scales);
  context.set_output(0, context.element(0), shape);
}

void scales_attribute_rule(InferContext& context) { set_resized(context, 0, 0, 0); }
void scales_input_rule(InferContext& context) { set_resized(context, 1, 0, 0); }
void resize_rule(InferContext& context) { set_resized(context, 2, 3, 1); }

constexpr TypeSet kRoi = kFloatTypes;
constexpr SchemaRow kRows[] = {
    {"", "Upsample", 1, 8, 1, 1, scales_attribute_rule, {{0, kAllTypes}}},
    {"", "Upsample", 9, 9, 2, 1, scales_input_rule, {{0, kAllTypes}, {1, ElementType::kFloat}}},
    {"", "Upsample", 10, kLatest, 2, 1, scales_input_rule, {{0, kAllTypes}, {1, ElementType::kFloat}}, kDeprecated},
    {"", "Resize", 10, 10, 2, 1, scales_input_rule, {{0, kAllTypes}, {1, ElementType::kFloat}}},
    {"",
     "Resize",
     11,
     kLatest,
     {1, 4},
     1,
     resize_rule,
     {{0, kAllTypes}, {1, kRoi}, {2, ElementType::kFloat}, {3, ElementType::kInt64}}},
};

}  // namespace

extern const SchemaTable resize_rows;
const SchemaTable resize_rows(kRows);

}  // namespace ortolan::ops::onnx
