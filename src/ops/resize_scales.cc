// How Resize and Upsample scale each dimension.
#include "ops/resize_scales.h"

#include <cmath>

#include "ops/shape_rules.h"

namespace ortolan::ops {
namespace {

constexpr double kMostSize = 1e12;

int64_t checked_dim(double size) {
  require(size >= 0 && size <= kMostSize, ErrorCode::kInvalidArgument, "the output size ", size, " is out of range");
  return static_cast<int64_t>(size);
}

void apply_scales(std::vector<ResizeAxis>& axes, const std::vector<size_t>& listed, const ResizeWishes& wishes) {
  require(wishes.scales.size() == listed.size(), ErrorCode::kInvalidArgument, "scales has ", wishes.scales.size(),
          " entries for ", listed.size(), " dimensions");
  for (size_t i = 0; i < listed.size(); ++i) {
    ResizeAxis& axis = axes[listed[i]];
    axis.scale = wishes.scales[i];
    require(axis.scale > 0 && std::isfinite(axis.scale), ErrorCode::kInvalidArgument, "the scale ", axis.scale,
            " is out of range; scales must be positive");
    axis.to = checked_dim(std::floor(static_cast<double>(axis.from) * (axis.end - axis.start) * axis.scale));
  }
}

void apply_sizes(std::vector<ResizeAxis>& axes, const std::vector<size_t>& listed, const ResizeWishes& wishes,
                 std::string_view policy) {
  require(wishes.sizes.size() == listed.size(), ErrorCode::kInvalidArgument, "sizes has ", wishes.sizes.size(),
          " entries for ", listed.size(), " dimensions");
  std::optional<double> shared;
  for (size_t i = 0; i < listed.size(); ++i) {
    ResizeAxis& axis = axes[listed[i]];
    axis.to = checked_dim(static_cast<double>(wishes.sizes[i]));
    axis.scale = axis.from > 0 ? static_cast<double>(axis.to) / static_cast<double>(axis.from) : 1;
    if (policy == "not_larger") shared = std::min(shared.value_or(axis.scale), axis.scale);
    if (policy == "not_smaller") shared = std::max(shared.value_or(axis.scale), axis.scale);
  }
  for (size_t i = 0; shared && i < listed.size(); ++i) {
    ResizeAxis& axis = axes[listed[i]];
    axis.scale = *shared;
    axis.to = checked_dim(std::floor(*shared * static_cast<double>(axis.from) + 0.5));
  }
}

}  // namespace

std::vector<double> to_doubles(const Tensor& tensor) {
  return dispatch<kFloatTypes>(tensor.type(), [&]<class T>(TypeTag<T>) {
    std::vector<double> values;
    for (const T& value : tensor.span<T>()) {
      values.push_back(static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(value));
    }
    return values;
  });
}

ResizeWishes resize_wishes(const Node& node, const Tensor* scales, const Tensor* sizes, const Tensor* roi) {
  ResizeWishes wishes;
  if (scales != nullptr) wishes.scales = to_doubles(*scales);
  if (sizes != nullptr) wishes.sizes = to_int64s(*sizes);
  if (roi != nullptr) wishes.roi = to_doubles(*roi);
  if (node.opset >= 9) return wishes;
  if (node.has_attribute("scales")) {
    wishes.scales.assign(node.floats("scales").begin(), node.floats("scales").end());
  } else if (node.has_attribute("height_scale")) {
    wishes.scales = {1, 1, node.float_of("height_scale"), node.float_of("width_scale")};
  }
  return wishes;
}

std::vector<size_t> resized_axes(const Node& node, size_t rank) {
  std::vector<size_t> axes;
  if (node.opset < 18 || !node.has_attribute("axes")) {
    for (size_t i = 0; i < rank; ++i) axes.push_back(i);
    return axes;
  }
  checked_axes(node.ints("axes"), rank);
  for (int64_t axis : node.ints("axes")) axes.push_back(checked_axis(axis, rank));
  return axes;
}

std::vector<ResizeAxis> resize_axes(const Node& node, const Shape& input, const ResizeWishes& wishes) {
  std::vector<ResizeAxis> axes;
  for (int64_t dim : input) axes.push_back({dim, dim});
  std::vector<size_t> listed = resized_axes(node, input.rank());
  if (node.string_or("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize") {
    require(wishes.roi.size() == 2 * listed.size(), ErrorCode::kInvalidArgument, "roi has ", wishes.roi.size(),
            " entries; tf_crop_and_resize needs a start and an end for ", listed.size(), " dimensions");
    for (size_t i = 0; i < listed.size(); ++i) {
      axes[listed[i]].start = wishes.roi[i];
      axes[listed[i]].end = wishes.roi[i + listed.size()];
      bool finite = std::abs(wishes.roi[i]) < kMostSize && std::abs(wishes.roi[i + listed.size()]) < kMostSize;
      require(finite, ErrorCode::kInvalidArgument, "roi holds a value that is out of range");
    }
  }
  bool by_sizes = !wishes.sizes.empty();
  require(by_sizes != !wishes.scales.empty() || (!by_sizes && listed.empty()), ErrorCode::kInvalidArgument,
          by_sizes ? "scales and sizes are both given; give one of them" : "neither scales nor sizes are given");
  if (by_sizes) {
    apply_sizes(axes, listed, wishes, node.string_or("keep_aspect_ratio_policy", "stretch"));
  } else {
    apply_scales(axes, listed, wishes);
  }
  return axes;
}

}  // namespace ortolan::ops
