// Operators that take or join parts along axes: Slice, Split, Concat.
#include <algorithm>
#include <numeric>

#include "gpu/core/elements/moves.h"
#include "gpu/core/graph/fusion.h"

namespace ortolan::gpu {
namespace {

std::string refuse(const Candidate& candidate) { return refuse_unstorable(candidate, 0); }

bool knows_all_but_first(const Node&, size_t i) { return i > 0; }

/** What Slice takes along one axis. */
struct Range {
  int64_t axis, start, end, step;
};

/** From inputs since opset 10, before it, and where they are left out, from attributes. */
std::vector<int64_t> part_of(const Lowering& l, size_t input, std::string_view attribute) {
  bool is_input = l.node().since_version >= 10 && l.has(input);
  return is_input ? l.integers(input) : l.node().integers(attribute);
}

std::vector<Range> ranges_of(const Lowering& l) {
  std::vector<int64_t> starts = part_of(l, 1, "starts"), ends = part_of(l, 2, "ends"), axes = part_of(l, 3, "axes");
  std::vector<int64_t> steps = part_of(l, 4, "steps");
  if (axes.empty()) {
    axes.resize(starts.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size()) {
    l.fail("starts, ends, axes and steps are not of one length");
  }
  std::vector<Range> ranges;
  for (size_t i = 0; i < starts.size(); i++) ranges.push_back({axes[i], starts[i], ends[i], steps[i]});
  return ranges;
}

/** Within the axis; behind its end in the step's direction for an empty range. */
Range bounded(Range range, int64_t size) {
  auto from_end = [size](int64_t at) { return at < 0 ? at + size : at; };
  bool forward = range.step > 0;
  range.start = std::clamp<int64_t>(from_end(range.start), 0, forward ? size : size - 1);
  range.end = std::clamp<int64_t>(from_end(range.end), forward ? 0 : -1, size);
  return range;
}

int64_t length_of(const Range& range) {
  int64_t way = range.step > 0 ? range.end - range.start : range.start - range.end;
  if (way <= 0) return 0;
  uint64_t step = range.step > 0 ? static_cast<uint64_t>(range.step) : 0 - static_cast<uint64_t>(range.step);
  return static_cast<int64_t>((static_cast<uint64_t>(way) - 1) / step) + 1;
}

void lower_slice(Lowering& l) {
  const Shape& source = l.shape(0);
  StridedCopy copy{source, strides_of(source), {}};
  std::vector<bool> is_taken(source.size());
  for (Range range : ranges_of(l)) {
    size_t axis = l.axis(range.axis, source.size());
    if (is_taken[axis]) l.fail("axis " + std::to_string(axis) + " stands twice in axes");
    is_taken[axis] = true;
    if (range.step == 0) l.fail("the step along axis " + std::to_string(axis) + " is 0");
    if (source[axis] == 0) continue;
    range = bounded(range, source[axis]);
    copy.shape[axis] = length_of(range);
    copy.from_start += range.start * strides_of(source)[axis];
    copy.from[axis] = copy.shape[axis] > 1 ? copy.from[axis] * range.step : 0;
  }
  copy.to = strides_of(copy.shape);
  Shape shape = copy.shape;
  move_input(l, shape, std::move(copy));
}

/** The sizes along the axis: given, or equal, the last one smaller where the schema counts outputs. */
std::vector<int64_t> sizes_of(const Lowering& l, int64_t size) {
  if (l.has(1)) return l.integers(1);
  if (std::vector<int64_t> given = l.node().integers("split"); !given.empty()) return given;
  auto count = static_cast<int64_t>(l.node().outputs.size());
  bool uneven = l.node().since_version >= 18 || l.node().has_attribute("num_outputs");
  if (!uneven && size % count != 0) {
    l.fail("a dimension of " + std::to_string(size) + " does not divide into " + std::to_string(count) +
           " equal parts");
  }
  int64_t each = (size + count - 1) / count;
  std::vector<int64_t> sizes;
  for (int64_t i = 0; i < count; i++) sizes.push_back(std::clamp<int64_t>(size - i * each, 0, each));
  return sizes;
}

void lower_split(Lowering& l) {
  const Shape source = l.shape(0);
  size_t axis = l.axis(l.node().integer("axis", 0), source.size());
  std::vector<int64_t> sizes = sizes_of(l, source[axis]), strides = strides_of(source);
  bool negative = std::any_of(sizes.begin(), sizes.end(), [](int64_t size) { return size < 0; });
  int64_t sum = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
  if (negative || sum != source[axis] || sizes.size() != l.node().outputs.size()) {
    l.fail("the parts of axis " + std::to_string(axis) + " must be as many as the outputs, " +
           std::to_string(l.node().outputs.size()) + ", and have " + std::to_string(source[axis]) + " together");
  }
  int64_t start = 0;
  for (size_t i = 0; i < sizes.size(); i++) {
    Shape shape = source;
    shape[axis] = sizes[i];
    if (l.node().has_output(i)) {
      Memory to = l.output(i, shape);
      copy_strided(l, l.input(0), to, element_bytes(l.type(0)),
                   {shape, strides, strides_of(shape), start * strides[axis], 0});
    }
    start += sizes[i];
  }
}

/** The inputs joined along the axis. */
Shape joined(const Lowering& l, size_t axis) {
  Shape shape = l.shape(0);
  for (size_t i = 1; i < l.node().inputs.size(); i++) {
    const Shape& next = l.shape(i);
    bool fits = next.size() == shape.size();
    for (size_t d = 0; fits && d < shape.size(); d++) fits = d == axis || next[d] == shape[d];
    if (!fits) l.fail("input " + std::to_string(i) + " differs from input 0 beside axis " + std::to_string(axis));
    shape[axis] += next[axis];
  }
  return shape;
}

void lower_concat(Lowering& l) {
  size_t axis = l.axis(l.node().integer("axis", 1), l.shape(0).size());
  Shape shape = joined(l, axis);
  if (l.node().inputs.size() == 1) return l.view(0, 0, shape);
  std::vector<int64_t> strides = strides_of(shape);
  ElementType type = l.type(0);
  std::vector<Layout> from;
  for (size_t i = 0; i < l.node().inputs.size(); i++) {
    std::optional<Layout> layout = layout_of(l, i);
    from.push_back(layout ? *layout : Layout{l.input(i), strides_of(l.shape(i))});
  }
  Memory to = l.output(0, shape);
  int64_t start = 0;
  for (size_t i = 0; i < l.node().inputs.size(); i++) {
    const Shape& part = l.shape(i);
    copy_strided(l, from[i].memory, to, element_bytes(type),
                 {part, from[i].strides, strides, from[i].first, start * strides[axis]});
    start += part[axis];
  }
}

constexpr Operator kRows[] = {
    {"", "Slice", 1, kNewest, refuse, lower_slice, knows_all_but_first},
    {"", "Split", 1, kNewest, refuse, lower_split, knows_all_but_first},
    {"", "Concat", 1, kNewest, refuse, lower_concat},
};

}  // namespace

std::span<const Operator> slice_operators() { return kRows; }

}  // namespace ortolan::gpu
