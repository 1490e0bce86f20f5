// Coordinates and kernels of resizing, in double.
#include "gpu/core/elements/resize_table.h"

#include <algorithm>
#include <cmath>

#include "gpu/device/error.h"

namespace ortolan::gpu {
namespace {

using Mode = ResizeAttributes::Mode;

constexpr int64_t kMostTaps = 1 << 12;
constexpr int64_t kMostEntries = 1 << 26;  // of a table, which stands in the host's memory first

/** Where output place i lies in the input. */
double source_of(const std::string& coordinates, const ResizeAxis& axis, int64_t i) {
  auto x = static_cast<double>(i), from = static_cast<double>(axis.from), to = static_cast<double>(axis.to);
  double centered = (x + 0.5) / axis.scale - 0.5, width = from * axis.scale;
  if (coordinates == "asymmetric") return x / axis.scale;
  if (coordinates == "pytorch_half_pixel") return axis.to > 1 ? centered : 0;
  if (coordinates == "align_corners") return axis.to <= 1 || width == 1 ? 0 : x * (from - 1) / (width - 1);
  if (coordinates == "tf_half_pixel_for_nn") return (x + 0.5) / axis.scale;
  if (coordinates == "half_pixel_symmetric") return from / 2 * (1 - to / width) + centered;
  if (coordinates != "tf_crop_and_resize") return centered;
  if (axis.to <= 1) return 0.5 * (axis.start + axis.end) * (from - 1);
  return axis.start * (from - 1) + x * (axis.end - axis.start) * (from - 1) / (to - 1);
}

double nearest_of(const std::string& mode, double x, bool shrinks) {
  if (mode == "round_prefer_ceil") return std::floor(x + 0.5);
  if (mode == "floor") return std::floor(x);
  if (mode == "ceil") return std::ceil(x);
  if (mode == "simple") return shrinks ? std::ceil(x) : std::floor(x);
  return std::ceil(x - 0.5);
}

/** Keys' cubic kernel. */
double cubic_weight(double distance, double a) {
  double x = std::abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/** One row of taps, from the `first` on relative to the place left of the source; the weights add up to 1. */
void add_row(const ResizeAttributes& attributes, const ResizeAxis& axis, double source, double stretch, int64_t first,
             ResizeTable& table) {
  double left = std::ceil(source) - 1, sum = 0, last = static_cast<double>(axis.from - 1);
  std::vector<double> exact;
  for (int64_t t = 0; t < table.taps; t++) {
    double at = left + static_cast<double>(first + t), distance = (at - source) * stretch;
    double weight = attributes.mode == Mode::kLinear ? std::max(0.0, 1 - std::abs(distance))
                                                     : cubic_weight(distance, attributes.cubic_a);
    if (attributes.excludes_outside && (at < 0 || at > last)) weight = 0;
    table.places.push_back(static_cast<int32_t>(std::clamp(at, 0.0, last)));
    exact.push_back(weight);
    sum += weight;
  }
  for (double weight : exact) table.weights.push_back(static_cast<float>(sum != 0 ? weight / sum : 0));
}

void add_single(int64_t place, ResizeTable& table) {
  table.places.insert(table.places.end(), static_cast<size_t>(table.taps), static_cast<int32_t>(place));
  table.weights.push_back(1.0f);
  table.weights.insert(table.weights.end(), static_cast<size_t>(table.taps) - 1, 0.0f);
}

bool changes_nothing(const ResizeTable& table, const ResizeAxis& axis) {
  bool same = axis.from == axis.to;
  for (size_t i = 0; same && i < table.places.size(); i++) {
    int64_t at = static_cast<int64_t>(i) / table.taps;
    same = table.places[i] >= 0 && (table.places[i] == at || table.weights[i] == 0);
  }
  return same;
}

int64_t first_tap(const ResizeAttributes& attributes, double stretch) {
  double reach = (attributes.mode == Mode::kLinear ? 1 : 2) / stretch;
  if (reach > kMostTaps) {
    throw Error(ErrorKind::kInvalid, "resizing: a scale of " + std::to_string(stretch) + " is too small for antialias");
  }
  return static_cast<int64_t>(std::floor(-reach)) + 1;
}

}  // namespace

ResizeAttributes resize_attributes(const Node& node) {
  ResizeAttributes result;
  std::string mode = node.text("mode", "nearest");
  if (mode == "linear" || mode == "bilinear") result.mode = Mode::kLinear;
  if (mode == "cubic") result.mode = Mode::kCubic;
  bool newest = node.op == "Resize" && node.since_version >= 11;
  result.coordinates = newest ? node.text("coordinate_transformation_mode", "half_pixel") : "asymmetric";
  result.nearest = node.op == "Upsample" ? "floor"
                   : newest              ? node.text("nearest_mode", "round_prefer_floor")
                                         : "simple";
  result.cubic_a = node.number("cubic_coeff_a", -0.75f);
  result.excludes_outside = node.integer("exclude_outside", 0) != 0;
  result.antialias = node.integer("antialias", 0) != 0;
  result.extrapolation = node.number("extrapolation_value", 0.0f);
  return result;
}

ResizeTable resize_table(const ResizeAttributes& attributes, const ResizeAxis& axis) {
  bool nearest = attributes.mode == Mode::kNearest;
  double stretch = attributes.antialias ? std::min(axis.scale, 1.0) : 1;
  int64_t first = nearest ? 0 : first_tap(attributes, stretch);
  ResizeTable table;
  table.taps = nearest ? 1 : 2 - 2 * first;
  if (axis.to > kMostEntries / table.taps) {
    throw Error(ErrorKind::kOutOfMemory, "resizing: " + std::to_string(axis.to) + " places of " +
                                             std::to_string(table.taps) + " taps along one axis are more than the " +
                                             std::to_string(kMostEntries) + " that a device is given");
  }
  for (int64_t i = 0; i < axis.to; i++) {
    double source = source_of(attributes.coordinates, axis, i), last = static_cast<double>(axis.from - 1);
    if (attributes.coordinates == "tf_crop_and_resize" && (source < 0 || source > last)) {
      add_single(-1, table);
    } else if (nearest) {
      double at = nearest_of(attributes.nearest, source, axis.scale < 1);
      add_single(static_cast<int64_t>(std::clamp(at, 0.0, last)), table);
    } else {
      add_row(attributes, axis, source, stretch, first, table);
    }
  }
  table.changes_nothing = changes_nothing(table, axis);
  return table;
}

}  // namespace ortolan::gpu
