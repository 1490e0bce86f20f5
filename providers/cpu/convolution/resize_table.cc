// The positions and weights by which resizing interpolates along one dimension.
#include "cpu/convolution/resize_table.h"

#include <algorithm>
#include <cmath>

#include "base/threads/polled_loop.h"
#include "base/threads/polled_vector.h"

namespace ortolan::cpu {
namespace {

using namespace base;

constexpr double kMostReach = 1 << 19;

template <class Enum>
Enum one_of(std::string_view what, std::string_view name, std::initializer_list<std::string_view> names) {
  auto found = std::find(names.begin(), names.end(), name);
  require(found != names.end(), ErrorCode::kInvalidGraph, what, " '", name, "' is unknown");
  return static_cast<Enum>(found - names.begin());
}

ResizeMode mode_called(std::string_view name) {
  if (name == "bilinear") return ResizeMode::kLinear;
  return one_of<ResizeMode>("mode", name, {"nearest", "linear", "cubic"});
}

/** Where output position x lies in the input. */
double source_of(Coordinates coordinates, const ops::ResizeAxis& axis, int64_t position) {
  auto x = static_cast<double>(position), from = static_cast<double>(axis.from);
  double width = from * axis.scale;
  switch (coordinates) {
    case Coordinates::kPytorchHalfPixel:
      return axis.to > 1 ? (x + 0.5) / axis.scale - 0.5 : 0;
    case Coordinates::kAlignCorners:
      return axis.to <= 1 || width == 1 ? 0 : x * (from - 1) / (width - 1);
    case Coordinates::kAsymmetric:
      return x / axis.scale;
    case Coordinates::kTfHalfPixelForNn:
      return (x + 0.5) / axis.scale;
    case Coordinates::kTfCropAndResize: {
      double last = from - 1, span = axis.end - axis.start;
      if (axis.to <= 1) return 0.5 * (axis.start + axis.end) * last;
      return axis.start * last + x * span * last / (static_cast<double>(axis.to) - 1);
    }
    case Coordinates::kHalfPixelSymmetric: {
      double adjustment = static_cast<double>(axis.to) / width;
      return from / 2 * (1 - adjustment) + (x + 0.5) / axis.scale - 0.5;
    }
    default:
      return (x + 0.5) / axis.scale - 0.5;
  }
}

double nearest_of(NearestMode mode, double x, bool shrinks) {
  switch (mode) {
    case NearestMode::kRoundPreferCeil:
      return std::floor(x + 0.5);
    case NearestMode::kFloor:
      return std::floor(x);
    case NearestMode::kCeil:
      return std::ceil(x);
    case NearestMode::kSimple:
      return shrinks ? std::ceil(x) : std::floor(x);
    default:
      return std::ceil(x - 0.5);
  }
}

/** Keys' cubic kernel with parameter a. */
double cubic_weight(double distance, double a) {
  double x = std::abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

/** The first tap relative to the position left of the source, for a kernel of that half width. */
int64_t first_tap(const ResizeAttributes& attributes, double stretch) {
  double reach = (attributes.mode == ResizeMode::kLinear ? 1 : 2) / stretch;
  require(reach <= kMostReach, ErrorCode::kInvalidArgument, "the scale ", stretch,
          " is too small for antialias; it takes ", reach, " elements to either side");
  return static_cast<int64_t>(std::floor(-reach)) + 1;
}

/** Fills one row of weights, made to add up to 1. */
void fill_weights(const ResizeAttributes& attributes, const ops::ResizeAxis& axis, double source, double stretch,
                  int64_t first, std::span<int64_t> positions, std::span<float> weights) {
  double left = std::ceil(source) - 1, ratio = source - left, sum = 0;
  std::vector<double> exact(weights.size());
  for (size_t i = 0; i < weights.size(); ++i) {
    double distance = (static_cast<double>(first) + static_cast<double>(i) - ratio) * stretch;
    double weight = attributes.mode == ResizeMode::kLinear ? std::max(0.0, 1 - std::abs(distance))
                                                           : cubic_weight(distance, attributes.cubic_a);
    double at = left + static_cast<double>(first) + static_cast<double>(i);
    bool outside = at < 0 || at > static_cast<double>(axis.from - 1);
    if (outside && attributes.exclude_outside) weight = 0;
    positions[i] = static_cast<int64_t>(std::clamp(at, 0.0, static_cast<double>(axis.from - 1)));
    exact[i] = weight;
    sum += weight;
  }
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(sum != 0 ? exact[i] / sum : 0);
}

bool is_identity(const ResizeTable& table, const ops::ResizeAxis& axis) {
  if (axis.from != axis.to) return false;
  base::TerminatePoll poll;
  for (int64_t i = 0; i < axis.to; ++i) {
    poll.work(1 + table.taps);
    for (int j = 0; j < table.taps; ++j) {
      auto at = static_cast<size_t>(i * table.taps + j);
      if (table.positions[at] < 0 || (table.positions[at] != i && table.weights[at] != 0)) return false;
    }
  }
  return true;
}

}  // namespace

ResizeAttributes::ResizeAttributes(const graph::Node& node)
    : mode(mode_called(node.string_or("mode", "nearest"))),
      coordinates(Coordinates::kAsymmetric),
      nearest(NearestMode::kSimple),
      cubic_a(node.float_or("cubic_coeff_a", -0.75f)),
      exclude_outside(node.int_or("exclude_outside", 0) != 0),
      antialias(node.int_or("antialias", 0) != 0),
      extrapolation(node.float_or("extrapolation_value", 0.0f)) {
  if (node.op_type == "Upsample") nearest = NearestMode::kFloor;
  if (node.op_type == "Upsample" || node.opset < 11) return;
  coordinates = one_of<Coordinates>("coordinate_transformation_mode",
                                    node.string_or("coordinate_transformation_mode", "half_pixel"),
                                    {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric",
                                     "tf_half_pixel_for_nn", "tf_crop_and_resize", "half_pixel_symmetric"});
  nearest = one_of<NearestMode>("nearest_mode", node.string_or("nearest_mode", "round_prefer_floor"),
                                {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
}

ResizeTable resize_table(const ResizeAttributes& attributes, const ops::ResizeAxis& axis) {
  bool nearest = attributes.mode == ResizeMode::kNearest;
  double stretch = attributes.antialias ? std::min(axis.scale, 1.0) : 1;
  int64_t first = nearest ? 0 : first_tap(attributes, stretch);
  ResizeTable table;
  int64_t taps = nearest ? 1 : 2 - 2 * first;
  table.taps = static_cast<int>(taps);
  auto count = static_cast<size_t>(checked_mul(axis.to, taps));
  require(count <= size_t{1} << 26, ErrorCode::kInvalidArgument, "resizing ", axis.from, " to ", axis.to, " needs ",
          count, " weights, which is too many");
  table.positions = base::polled_vector<int64_t>(static_cast<int64_t>(count));
  table.weights = base::polled_vector<float>(static_cast<int64_t>(count), 1.0f);
  base::TerminatePoll poll;
  for (int64_t i = 0; i < axis.to; ++i) {
    poll.work(16 + 16 * taps);
    double source = source_of(attributes.coordinates, axis, i);
    auto row = static_cast<size_t>(i * taps);
    bool outside = source < 0 || source > static_cast<double>(axis.from - 1);
    if (attributes.coordinates == Coordinates::kTfCropAndResize && outside) {
      table.positions[row] = -1;
    } else if (nearest) {
      double at = nearest_of(attributes.nearest, source, axis.scale < 1);
      table.positions[row] = static_cast<int64_t>(std::clamp(at, 0.0, static_cast<double>(axis.from - 1)));
    } else {
      fill_weights(attributes, axis, source, stretch, first, std::span(table.positions).subspan(row, table.taps),
                   std::span(table.weights).subspan(row, table.taps));
    }
  }
  table.identity = is_identity(table, axis);
  return table;
}

}  // namespace ortolan::cpu
