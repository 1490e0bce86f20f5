// Resize and its forerunner Upsample: the nearest elements are picked, others interpolated along one axis after
// another.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>

#include "gpu/core/elements/moves.h"
#include "gpu/core/elements/resize_table.h"

namespace ortolan::gpu {
namespace {

using Mode = ResizeAttributes::Mode;

constexpr std::array<std::string_view, 7> kCoordinates = {
    "half_pixel",           "pytorch_half_pixel", "align_corners",       "asymmetric",
    "tf_half_pixel_for_nn", "tf_crop_and_resize", "half_pixel_symmetric"};
constexpr std::array<ElementType, 4> kKinds = {ElementType::kFloat, ElementType::kFloat16, ElementType::kUint8,
                                               ElementType::kInt8};

bool has_roi(const Node& node) { return node.op == "Resize" && node.since_version >= 11; }
bool crops(const ResizeAttributes& attributes) { return attributes.coordinates == "tf_crop_and_resize"; }

std::string refuse(const Candidate& candidate) {
  ResizeAttributes attributes = resize_attributes(candidate.node());
  if (candidate.rank(0) == 0) return "input 0 is a scalar";
  std::string mode = candidate.node().text("mode", "nearest");
  bool known_mode = mode == "nearest" || attributes.mode != Mode::kNearest;
  if (!known_mode) return "mode '" + mode + "' is unknown";
  if (std::find(kCoordinates.begin(), kCoordinates.end(), attributes.coordinates) == kCoordinates.end()) {
    return "coordinate_transformation_mode '" + attributes.coordinates + "' is unknown";
  }
  if (attributes.mode == Mode::kNearest) {
    if (candidate.rank(0) > kMostPickedAxes)
      return "input 0 has more than " + std::to_string(kMostPickedAxes) + " axes";
    bool fills = crops(attributes) && attributes.extrapolation != 0.0f;
    return fills ? refuse_unless(candidate, 0, {kKinds[0], kKinds[1]}) : refuse_unstorable(candidate, 0);
  }
  return refuse_unless(candidate, 0, {kKinds[0], kKinds[1], kKinds[2], kKinds[3]});
}

bool knows(const Node& node, size_t i) { return i > 0 && (i != 1 || !has_roi(node) || crops(resize_attributes(node))); }

std::vector<float> scales_of(const Lowering& l) {
  const Node& node = l.node();
  size_t input = has_roi(node) ? 2 : 1;
  if (l.has(input)) return l.floats(input);
  if (node.op == "Resize") return {};
  auto given = node.attributes.find("scales");
  if (given != node.attributes.end()) {
    if (const auto* scales = std::get_if<std::vector<float>>(&given->second)) return *scales;
  }
  return {1, 1, node.number("height_scale", 1), node.number("width_scale", 1)};
}

std::vector<size_t> resized_axes(const Lowering& l) {
  std::vector<size_t> axes(l.shape(0).size());
  std::iota(axes.begin(), axes.end(), 0);
  if (l.node().since_version < 18 || !l.node().has_attribute("axes")) return axes;
  axes.clear();
  for (int64_t axis : l.node().integers("axes")) axes.push_back(l.axis(axis, l.shape(0).size()));
  return axes;
}

int64_t checked_size(const Lowering& l, double size) {
  if (!(size >= 0 && size <= INT32_MAX)) l.fail("a dimension of the result is " + std::to_string(size));
  return static_cast<int64_t>(size);
}

void apply_roi(const Lowering& l, const std::vector<size_t>& listed, std::vector<ResizeAxis>& axes) {
  if (listed.empty()) return;
  std::vector<double> roi = l.has(1) ? l.doubles(1) : std::vector<double>();
  if (roi.size() != 2 * listed.size()) {
    l.fail("roi has " + std::to_string(roi.size()) + " numbers for " + std::to_string(listed.size()) + " axes");
  }
  for (size_t i = 0; i < listed.size(); i++) {
    axes[listed[i]].start = roi[i];
    axes[listed[i]].end = roi[i + listed.size()];
  }
}

void apply_scales(const Lowering& l, const std::vector<float>& scales, const std::vector<size_t>& listed,
                  std::vector<ResizeAxis>& axes) {
  if (scales.size() != listed.size()) {
    l.fail("there are " + std::to_string(scales.size()) + " scales for " + std::to_string(listed.size()) + " axes");
  }
  for (size_t i = 0; i < listed.size(); i++) {
    ResizeAxis& axis = axes[listed[i]];
    axis.scale = scales[i];
    if (!(axis.scale > 0 && std::isfinite(axis.scale)))
      l.fail("the scale " + std::to_string(axis.scale) + " is not positive");
    axis.to = checked_size(l, std::floor(static_cast<double>(axis.from) * (axis.end - axis.start) * axis.scale));
  }
}

void apply_sizes(const Lowering& l, const std::vector<int64_t>& sizes, const std::vector<size_t>& listed,
                 std::vector<ResizeAxis>& axes) {
  if (sizes.size() != listed.size()) {
    l.fail("there are " + std::to_string(sizes.size()) + " sizes for " + std::to_string(listed.size()) + " axes");
  }
  std::string policy = l.node().text("keep_aspect_ratio_policy", "stretch");
  double least = INFINITY, most = 0;
  for (size_t i = 0; i < listed.size(); i++) {
    ResizeAxis& axis = axes[listed[i]];
    const auto size = static_cast<double>(sizes[i]);
    if (size < 0) l.fail("a dimension of the result is " + std::to_string(sizes[i]));
    axis.scale = axis.from > 0 ? size / static_cast<double>(axis.from) : 1;
    least = std::min(least, axis.scale);
    most = std::max(most, axis.scale);
  }
  const bool keeps_ratio = policy == "not_larger" || policy == "not_smaller";
  for (size_t i = 0; i < listed.size(); i++) {
    ResizeAxis& axis = axes[listed[i]];
    if (keeps_ratio) axis.scale = policy == "not_larger" ? least : most;
    axis.to = checked_size(
        l, keeps_ratio ? std::floor(axis.scale * static_cast<double>(axis.from) + 0.5) : static_cast<double>(sizes[i]));
  }
}

std::vector<ResizeAxis> axes_of(const Lowering& l, const ResizeAttributes& attributes) {
  std::vector<ResizeAxis> axes;
  for (int64_t size : l.shape(0)) axes.push_back({size, size});
  std::vector<size_t> listed = resized_axes(l);
  std::vector<float> scales = scales_of(l);
  std::vector<int64_t> sizes = has_roi(l.node()) && l.has(3) ? l.integers(3) : std::vector<int64_t>();
  const bool makes_nothing = std::ranges::find(sizes, 0) != sizes.end();
  if (crops(attributes) && !makes_nothing) apply_roi(l, listed, axes);
  if (!sizes.empty() && !scales.empty()) l.fail("scales and sizes are both given; give one of them");
  if (sizes.empty() && scales.empty() && !listed.empty()) l.fail("neither scales nor sizes are given");
  if (sizes.empty()) {
    apply_scales(l, scales, listed, axes);
  } else {
    apply_sizes(l, sizes, listed, axes);
  }
  return axes;
}

Memory extrapolation(Lowering& l, const ResizeAttributes& attributes) {
  if (attributes.extrapolation == 0.0f) return l.table({0, 0});
  HostTensor value = HostTensor::of_floats(l.type(0), {1}, {attributes.extrapolation});
  int32_t word = 0;
  std::memcpy(&word, value.elements.bytes.data(), value.elements.bytes.size());
  return l.table({word, 0});
}

void pick_nearest(Lowering& l, const ResizeAttributes& attributes, const std::vector<ResizeAxis>& axes,
                  const std::vector<ResizeTable>& tables) {
  std::vector<AxisSources> sources;
  for (size_t i = 0; i < axes.size(); i++) {
    sources.push_back({axes[i].from, axes[i].to});
    if (!tables[i].changes_nothing) sources.back().source = tables[i].places;
  }
  pick(l, sources, extrapolation(l, attributes));
}

/** A pass over [outer, from, inner]. */
struct Pass {
  Memory from, to;
  int from_kind, to_kind;
  int64_t outer, inner;
};

Memory weights_of(Lowering& l, const ResizeTable& table) {
  std::vector<int32_t> words(table.weights.size());
  std::memcpy(words.data(), table.weights.data(), words.size() * sizeof(float));
  return l.table(words);
}

void resample(Lowering& l, const ResizeAxis& axis, const ResizeTable& table, float outside, const Pass& pass) {
  bool last = pass.inner == 1;
  Grain grain = last ? grain_of(l.traits(), axis.to) : grain_of(l.traits(), axis.to, pass.inner);
  int64_t block = last ? grain.chunk : grain.block, blocks = last ? grain.chunks : grain.blocks;
  int64_t chunk = last ? 1 : grain.chunk, chunks = last ? 1 : grain.chunks, items = pass.outer * blocks * chunks;
  l.call("resample")
      .group(grain.group)
      .rounds(block * (last ? 1 : chunk) * (static_cast<int64_t>(table.taps) + 1))
      .constant("FROM", pass.from_kind)
      .constant("TO", pass.to_kind)
      .constant("TAPS", static_cast<int>(table.taps))
      .constant("LAST", last)
      .read(pass.from)
      .write(pass.to)
      .read(l.table(table.places))
      .read(weights_of(l, table))
      .params(items, axis.from, axis.to, pass.inner, block, blocks, chunk, chunks, outside)
      .run_items(items);
}

/** Axes that shrink come first, as that leaves less to do; then from the last one on. */
std::vector<size_t> order_of_passes(const std::vector<ResizeAxis>& axes, const std::vector<ResizeTable>& tables) {
  std::vector<size_t> order;
  for (bool shrinking : {true, false}) {
    for (size_t i = axes.size(); i-- > 0;) {
      if (!tables[i].changes_nothing && (axes[i].to < axes[i].from) == shrinking) order.push_back(i);
    }
  }
  return order;
}

void interpolate(Lowering& l, const ResizeAttributes& attributes, const std::vector<ResizeAxis>& axes,
                 const std::vector<ResizeTable>& tables, const Shape& result) {
  int kind = static_cast<int>(std::find(kKinds.begin(), kKinds.end(), l.type(0)) - kKinds.begin());
  std::vector<size_t> order = order_of_passes(axes, tables);
  Shape shape = l.shape(0);
  Memory from = l.input(0), y = l.output(0, result);
  for (size_t i = 0; i < order.size(); i++) {
    size_t axis = order[i];
    bool last = i + 1 == order.size();
    int64_t outer = element_count(shape, 0, axis), inner = element_count(shape, axis + 1, shape.size());
    shape[axis] = axes[axis].to;
    Memory to = last ? y : l.scratch(static_cast<size_t>(element_count(shape)) * sizeof(float));
    resample(l, axes[axis], tables[axis], attributes.extrapolation,
             {from, to, i == 0 ? kind : 0, last ? kind : 0, outer, inner});
    from = to;
  }
}

void lower(Lowering& l) {
  ResizeAttributes attributes = resize_attributes(l.node());
  std::vector<ResizeAxis> axes = axes_of(l, attributes);
  Shape result;
  for (const ResizeAxis& axis : axes) result.push_back(axis.to);
  if (element_count(result) == 0) return void(l.output(0, result));
  if (l.count(0) == 0) l.fail("the input is empty, so it cannot be resized");
  std::vector<ResizeTable> tables;
  for (const ResizeAxis& axis : axes) tables.push_back(resize_table(attributes, axis));
  if (std::all_of(tables.begin(), tables.end(), [](const ResizeTable& table) { return table.changes_nothing; })) {
    l.view(0, 0, result);
  } else if (attributes.mode == Mode::kNearest) {
    pick_nearest(l, attributes, axes, tables);
  } else {
    interpolate(l, attributes, axes, tables, result);
  }
}

constexpr Operator kRows[] = {
    {"", "Resize", 10, kNewest, refuse, lower, knows},
    {"", "Upsample", 1, kNewest, refuse, lower, knows},
};

}  // namespace

std::span<const Operator> resize_operators() { return kRows; }

}  // namespace ortolan::gpu
