// Slice takes a range of each of some dimensions. starts, ends and axes are attributes before opset 10, then inputs,
// with steps. DynamicSlice, an experiment of old models, had them as inputs from the start.
#include "ops/slice_range.h"

#include "ops/element_dims.h"
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

constexpr int64_t kEnd = INT32_MAX;  // an end at or beyond it means "to the end" whatever the dimension

struct Bounds {
  IntList starts, ends, axes, steps;
};

/** Axes or steps: an empty list is as good as none, to the kernel too. */
IntList unless_empty(IntList list) { return list.values && list.values->empty() ? IntList{} : list; }

/** The length of a slice of `dim`; unknown unless the dimension is known or taken whole. */
Dim slice_dim(Dim dim, std::optional<int64_t> start, std::optional<int64_t> end, std::optional<int64_t> step) {
  if (!start || !end || !step) return {};
  if (dim.known()) return slice_range(dim.value(), *start, *end, *step).count;
  return *start == 0 && *end >= kEnd && *step == 1 ? dim : Dim{};
}

std::optional<int64_t> item(const IntList& list, size_t i, std::optional<int64_t> fallback) {
  if (!list.given) return fallback;
  return list.values && i < list.values->size() ? std::optional((*list.values)[i]) : std::nullopt;
}

void require_length(const IntList& list, size_t count, const char* what) {
  require(!list.values || list.values->size() == count, ErrorCode::kInvalidArgument, what, " has ",
          list.values ? list.values->size() : 0, " entries, but starts or axes has ", count);
}

/** The positions that are sliced, in order; nothing when they are not known. */
std::optional<std::vector<size_t>> sliced_axes(const InferContext& context, const Bounds& bounds, size_t rank) {
  std::vector<size_t> axes;
  if (bounds.axes.values) {
    checked_axes(*bounds.axes.values, rank);
    for (int64_t axis : *bounds.axes.values) axes.push_back(checked_axis(axis, rank));
    return axes;
  }
  if (bounds.axes.given) return std::nullopt;
  Dim count = bounds.starts.values ? Dim(static_cast<int64_t>(bounds.starts.values->size())) : length_of(context, 1);
  if (!count.known()) return std::nullopt;
  require(count.value() <= static_cast<int64_t>(rank), ErrorCode::kInvalidArgument, "starts has ", count.value(),
          " entries for an input of rank ", rank);
  for (size_t i = 0; i < static_cast<size_t>(count.value()); ++i) axes.push_back(i);
  return axes;
}

void slice_content(InferContext& context, const Bounds& bounds) {
  auto content = element_dims(context, 0);
  auto start = item(bounds.starts, 0, {}), end = item(bounds.ends, 0, {}), step = item(bounds.steps, 0, 1);
  if (!content || !start || !end || !step) return;
  SliceRange range = slice_range(static_cast<int64_t>(content->size()), *start, *end, *step);
  DimVector picked;
  for (int64_t i = 0; i < range.count; ++i) picked.push_back((*content)[range.start + i * range.step]);
  context.set_content(0, picked);
}

void slice_rule(InferContext& context) {
  Bounds bounds{ints_from(context, "starts", 1), ints_from(context, "ends", 2),
                unless_empty(ints_from(context, "axes", 3)), unless_empty(ints_from(context, "steps", 4))};
  require(bounds.starts.given && bounds.ends.given, ErrorCode::kInvalidGraph, "starts and ends must be given");
  const SymbolicShape& input = context.shape(0);
  if (!input.has_rank()) return context.set_output(0, context.element(0), {});
  auto axes = sliced_axes(context, bounds, input.rank());
  if (!axes) return context.set_output(0, context.element(0), SymbolicShape::of_rank(input.rank()));
  require_length(bounds.starts, axes->size(), "starts");
  require_length(bounds.ends, axes->size(), "ends");
  require_length(bounds.steps, axes->size(), "steps");
  DimVector dims = input.dims();
  for (size_t i = 0; i < axes->size(); ++i) {
    Dim& dim = dims[(*axes)[i]];
    dim = slice_dim(dim, item(bounds.starts, i, {}), item(bounds.ends, i, {}), item(bounds.steps, i, 1));
  }
  context.set_output(0, context.element(0), dims);
  if (dims.size() == 1 && axes->size() == 1) slice_content(context, bounds);
}

constexpr SchemaRow kRows[] = {
    {"", "Slice", 1, 9, 1, 1, slice_rule, {{0, kAllTypes}}},
    {"", "DynamicSlice", 1, 9, {3, 4}, 1, slice_rule, {{0, kAllTypes}, {kTheRest, kIndexTypes, 'I'}}},
    {"", "Slice", 10, kLatest, {3, 5}, 1, slice_rule, {{0, kAllTypes}, {kTheRest, kIndexTypes, 'I'}}},
};

}  // namespace

extern const SchemaTable slice_rows;
const SchemaTable slice_rows(kRows);

}  // namespace ortolan::ops::onnx
