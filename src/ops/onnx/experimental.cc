// Experimental operators of opsets 1 to 9 that early converters wrote: Affine, Crop, GivenTensorFill, ImageScaler,
// ParametricSoftplus, Scale, ScaledTanh.
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

void image_scaler_shape(InferContext& context) {
  context.require_rank(0, 4, 4);
  size_t biases = context.node().floats("bias").size();
  Dim channels = context.has_shape(0) ? context.shape(0)[1] : Dim{};
  require(!channels.known() || biases == 0 || channels.is(static_cast<int64_t>(biases)), ErrorCode::kInvalidGraph,
          "attribute bias has ", biases, " entries, but the image has ", channels.value(), " channels");
  context.set_output_like(0, 0);
}

/** Attribute border is left, top, right, bottom; with attribute scale (height, width) only the first two count. */
void crop_shape(InferContext& context) {
  context.require_rank(0, 4, 4);
  const auto& border = context.node().ints("border");
  const auto& scale = context.node().ints("scale");
  require(border.size() == 4 && (scale.empty() || scale.size() == 2), ErrorCode::kInvalidGraph,
          "attributes border and scale have ", border.size(), " and ", scale.size(), " entries; give 4, and 2 or none");
  SymbolicShape shape;
  if (context.has_shape(0)) {
    shape = context.shape(0);
    for (size_t i = 0; i < 2; ++i) {
      int64_t before = border[1 - i], after = border[3 - i];
      Dim& dim = shape[2 + i];
      require(before >= 0 && after >= 0, ErrorCode::kInvalidGraph, "attribute border holds ", std::min(before, after),
              "; borders must not be negative");
      if (!scale.empty()) {
        bool fits = scale[i] >= 0 && (!dim.known() || before <= dim.value() - scale[i]);
        require(fits, ErrorCode::kInvalidGraph, "a crop of ", scale[i], " from ", before, " on leaves the image of ",
                dim.value());
        dim = scale[i];
      } else if (dim.known()) {
        require(before <= dim.value() && after <= dim.value() - before, ErrorCode::kInvalidGraph, "borders ", before,
                " and ", after, " are wider than the image of ", dim.value());
        dim = dim.value() - before - after;
      }
    }
  }
  context.set_output(0, context.element(0), std::move(shape));
}

/** The shape is attribute shape, or what input 0 holds (input_as_shape), or input 0's shape; extra_shape follows. */
void given_tensor_fill_shape(InferContext& context) {
  const Node& node = context.node();
  std::optional<DimVector> dims;
  if (!context.has_input(0)) {
    dims = DimVector{};
    for (int64_t dim : node.ints("shape")) dims->push_back(dim);
  } else if (node.int_or("input_as_shape", 0) != 0) {
    if (const Tensor* value = context.value(0)) {
      dims = DimVector{};
      for (float dim : value->span<float>()) {
        require(dim >= 0 && dim < 1e9f, ErrorCode::kInvalidArgument, "dimension ", dim, " is not a valid size");
        dims->push_back(static_cast<int64_t>(dim));
      }
    }
  } else if (context.has_shape(0)) {
    dims = context.shape(0).dims();
  }
  SymbolicShape shape;
  if (dims) {
    for (int64_t extra : node.ints("extra_shape")) dims->push_back(extra);
    shape = SymbolicShape(std::move(*dims));
  }
  context.set_output(0, ElementType::kFloat, std::move(shape));
}

constexpr SchemaRow kRows[] = {
    {"", "Affine", 1, 9, 1, 1, same_as_first_input, {{0, kFloatTypes, 'T'}}},
    {"", "ParametricSoftplus", 1, 9, 1, 1, same_as_first_input, {{0, kFloatTypes, 'T'}}},
    {"", "Scale", 1, 9, 1, 1, same_as_first_input, {{0, kFloatTypes, 'T'}}},
    {"", "ScaledTanh", 1, 9, 1, 1, same_as_first_input, {{0, kFloatTypes, 'T'}}},
    {"", "ImageScaler", 1, 9, 1, 1, image_scaler_shape, {{0, kFloatTypes, 'T'}}},
    {"", "Crop", 1, 9, 1, 1, crop_shape, {{0, kFloatTypes, 'T'}}},
    {"", "GivenTensorFill", 1, 9, {0, 1}, 1, given_tensor_fill_shape, {{0, ElementType::kFloat, 'T'}}},
};

}  // namespace

extern const SchemaTable experimental_rows;
constinit const SchemaTable experimental_rows(kRows);

}  // namespace ortolan::ops::onnx
