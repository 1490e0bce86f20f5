// Launches that turn indices into places.
#include "gpu/core/elements/slots.h"

#include <algorithm>

namespace ortolan::gpu {
namespace {

constexpr size_t kDimensions = 6;  // of kernel slots_elements

/** The coordinates of an index, merged: how far apart the places of its neighbours are, 0 along the indexed axis. */
StridedCopy coordinates_of(Lowering& l, const Shape& data, const Shape& indices, size_t axis) {
  StridedCopy copy{indices, strides_of(data), strides_of(indices)};
  copy.from[axis] = 0;
  merge_dimensions(copy);
  if (copy.shape.size() > kDimensions) l.fail("the indices have more than " + std::to_string(kDimensions) + " axes");
  copy.shape.insert(copy.shape.begin(), kDimensions - copy.shape.size(), 1);
  copy.from.insert(copy.from.begin(), kDimensions - copy.from.size(), 0);
  return copy;
}

void require_within(const Lowering& l, const Shape& data, const Shape& indices, size_t axis) {
  bool fits = data.size() == indices.size();
  for (size_t i = 0; fits && i < data.size(); i++) fits = i == axis || indices[i] <= data[i];
  if (!fits) l.fail("the indices must have the data's rank and be no larger beside axis " + std::to_string(axis));
  if (data[axis] == 0 && element_count(indices) > 0) {
    l.fail("axis " + std::to_string(axis) + " is empty: no index is inside");
  }
}

KernelCall& bind(KernelCall& call, Lowering& l, size_t indices, Memory slots, const ErrorBit& error,
                 const Grain& grain) {
  return call.group(grain.group)
      .constant("LONG", l.type(indices) == ElementType::kInt64)
      .read(l.input(indices))
      .write(slots)
      .write(error.word);
}

}  // namespace

Memory slots_of_elements(Lowering& l, const Shape& data, size_t indices, size_t axis) {
  require_within(l, data, l.shape(indices), axis);
  int64_t count = l.count(indices);
  Memory slots = l.scratch(static_cast<size_t>(count) * sizeof(int32_t));
  StridedCopy places = coordinates_of(l, data, l.shape(indices), axis);
  ErrorBit error =
      l.error("an index is outside of axis " + std::to_string(axis) + " of size " + std::to_string(data[axis]));
  Grain grain = grain_of(l.traits(), count);
  KernelCall call = l.call("slots_elements");
  bind(call, l, indices, slots, error, grain)
      .params(count, grain.chunk, data[axis], strides_of(data)[axis], error.bit, places.shape, places.from)
      .run_items(grain.items());
  return slots;
}

void require_tuples(const Lowering& l, const Shape& data, const Shape& indices, size_t batch) {
  if (indices.size() <= batch || data.size() < batch) l.fail("the indices have too few axes");
  int64_t width = indices.back();
  if (width < 0 || static_cast<size_t>(width) > std::min(data.size() - batch, kMostIndexedAxes)) {
    l.fail("tuples of " + std::to_string(width) + " indices are for more axes than there are");
  }
  for (size_t i = 0; i < batch; i++) {
    if (data[i] != indices[i])
      l.fail("data and indices differ in axis " + std::to_string(i) + ", which is common to both");
  }
}

Memory slots_of_tuples(Lowering& l, const Shape& data, size_t indices, size_t batch) {
  const Shape& shape = l.shape(indices);
  require_tuples(l, data, shape, batch);
  int64_t width = shape.back();
  size_t last = batch + static_cast<size_t>(width);
  int64_t count = element_count(shape, 0, shape.size() - 1), slots_each = element_count(data, batch, last);
  if (slots_each == 0 && count > 0) l.fail("an indexed axis is empty: no index is inside");
  Memory slots = l.scratch(static_cast<size_t>(count) * sizeof(int32_t));
  std::vector<int64_t> dims(data.begin() + static_cast<int64_t>(batch), data.begin() + static_cast<int64_t>(last));
  dims.resize(kMostIndexedAxes, 1);
  ErrorBit error = l.error("an index is outside of its axis");
  Grain grain = grain_of(l.traits(), count);
  KernelCall call = l.call("slots_nd");
  int64_t each = std::max<int64_t>(element_count(shape, batch, shape.size() - 1), 1);
  bind(call, l, indices, slots, error, grain)
      .params(count, grain.chunk, width, each, slots_each, error.bit, dims)
      .run_items(grain.items());
  return slots;
}

std::string refuse_other_indices(const Candidate& candidate, size_t i) {
  return refuse_unless(candidate, i, {ElementType::kInt32, ElementType::kInt64});
}

}  // namespace ortolan::gpu
