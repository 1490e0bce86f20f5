// Gather: parts of an axis by indices; GatherElements: single elements; GatherND: slices by tuples of indices.
#include <algorithm>

#include "gpu/core/elements/slots.h"

namespace ortolan::gpu {
namespace {

std::string refuse(const Candidate& candidate) {
  std::string refusal = refuse_unstorable(candidate, 0);
  return refusal.empty() ? refuse_other_indices(candidate, 1) : refusal;
}

Shape shape_of(const Lowering& l, size_t axis) {
  const Shape &data = l.shape(0), &indices = l.shape(1);
  Shape shape(data.begin(), data.begin() + static_cast<int64_t>(axis));
  shape.insert(shape.end(), indices.begin(), indices.end());
  shape.insert(shape.end(), data.begin() + static_cast<int64_t>(axis) + 1, data.end());
  return shape;
}

[[noreturn]] void fail_outside(const Lowering& l, int64_t index, size_t axis, int64_t size) {
  l.fail("index " + std::to_string(index) + " is outside of axis " + std::to_string(axis) + " of size " +
         std::to_string(size));
}

/** One index that is known: a slice. */
void take_one(Lowering& l, size_t axis, int64_t index) {
  const Shape& data = l.shape(0);
  StridedCopy copy{data, strides_of(data), {}};
  copy.from_start = (index < 0 ? index + data[axis] : index) * copy.from[axis];
  copy.shape[axis] = 1;
  copy.to = strides_of(copy.shape);
  move_input(l, shape_of(l, axis), std::move(copy));
}

/** Whether no launch sees all of what is gathered from. */
bool is_too_long(const Lowering& l) {
  return static_cast<size_t>(l.count(0)) * element_bytes(l.type(0)) > l.traits().max_binding_bytes;
}

/** Rows of y, and what they are taken from. */
struct Slices {
  int64_t rows, size, inner;
};

struct GatherMemory {
  Memory x, y, indices;
  ErrorBit error;
};

/** Indices of the axis that a launch takes; what other indices name is left out. */
struct Taken {
  int64_t begin, count;
};

/** How many rows of so many bytes a launch sees, which may begin between two offsets. */
int64_t rows_seen(const DeviceTraits& traits, int64_t row_bytes) {
  return static_cast<int64_t>(traits.max_binding_bytes - traits.offset_alignment) / row_bytes;
}

/** All of x, or where only some of its indices are taken the part that has them, which begins `first` elements on. */
Memory part_of(const Lowering& l, const GatherMemory& memory, const Slices& slices, const Taken& taken,
               int64_t& first) {
  if (taken.count == slices.size) return memory.x;
  const auto bytes = static_cast<int64_t>(element_bytes(l.type(0))), row = slices.inner * bytes;
  const int64_t beyond = taken.begin * row % static_cast<int64_t>(l.traits().offset_alignment);
  first = beyond / bytes;
  return {memory.x.block, static_cast<size_t>(beyond + taken.count * row),
          memory.x.offset + static_cast<size_t>(taken.begin * row - beyond)};
}

void take(Lowering& l, const Slices& slices, const GatherMemory& memory, const Taken& taken) {
  const Grain grain = grain_of(l.traits(), slices.rows, slices.inner);
  int64_t first = 0;
  const Memory x = part_of(l, memory, slices, taken, first);
  l.call("gather")
      .group(grain.group)
      .constant("BYTES", static_cast<int>(element_bytes(l.type(0))))
      .constant("LONG", l.type(1) == ElementType::kInt64)
      .constant("PART", taken.count < slices.size)
      .read(x)
      .write(memory.y)
      .read(memory.indices)
      .write(memory.error.word)
      .params(grain.items(), slices.rows, grain.block, l.count(1), slices.size, slices.inner, grain.chunk, grain.chunks)
      .params(memory.error.bit, taken.begin, taken.count, first)
      .run_items(grain.items());
}

void lower_gather(Lowering& l) {
  const Shape& data = l.shape(0);
  size_t axis = l.axis(l.node().integer("axis", 0), data.size());
  int64_t size = data[axis], inner = element_count(data, axis + 1, data.size());
  if (const HostTensor* known = l.host(1)) {
    for (int64_t index : known->integers()) {
      if (index < -size || index >= size) fail_outside(l, index, axis, size);
    }
    if (l.count(1) == 1 && !is_too_long(l)) return take_one(l, axis, known->integers()[0]);
  }
  int64_t rows = element_count(data, 0, axis) * l.count(1);
  if (size == 0 && rows * inner > 0) l.fail("axis " + std::to_string(axis) + " is empty: no index is inside");
  Memory x = l.input(0), indices = l.input(1), y = l.output(0, shape_of(l, axis));
  if (rows * inner == 0) return;
  ErrorBit error = l.error("an index is outside of axis " + std::to_string(axis) + " of size " + std::to_string(size));
  const Slices slices{rows, size, inner};
  const int64_t row_bytes = inner * static_cast<int64_t>(element_bytes(l.type(0)));
  const int64_t most =
      is_too_long(l) && rows == l.count(1) ? std::max<int64_t>(rows_seen(l.traits(), row_bytes), 1) : size;
  for (int64_t begin = 0; begin < size; begin += most) {
    take(l, slices, {x, y, indices, error}, {begin, std::min(most, size - begin)});
  }
}

void lower_gather_elements(Lowering& l) {
  size_t axis = l.axis(l.node().integer("axis", 0), l.shape(0).size());
  Memory y = l.output(0, l.shape(1));
  if (l.count(1) == 0) return;
  Memory slots = slots_of_elements(l, l.shape(0), 1, axis);
  gather_slots(l, l.input(0), y, element_bytes(l.type(0)), slots, l.count(1), 1);
}

void lower_gather_nd(Lowering& l) {
  const Shape &data = l.shape(0), &indices = l.shape(1);
  int64_t batch = l.node().integer("batch_dims", 0);
  if (batch < 0) l.fail("batch_dims is negative");
  require_tuples(l, data, indices, static_cast<size_t>(batch));
  auto inner_from = data.begin() + batch + indices.back();
  Shape shape(indices.begin(), indices.end() - 1);
  shape.insert(shape.end(), inner_from, data.end());
  Memory y = l.output(0, shape);
  if (element_count(shape) == 0) return;
  Memory slots = slots_of_tuples(l, data, 1, static_cast<size_t>(batch));
  int64_t inner = element_count({inner_from, data.end()});
  gather_slots(l, l.input(0), y, element_bytes(l.type(0)), slots, element_count(indices, 0, indices.size() - 1), inner);
}

/** What is gathered from, along its first axis. */
bool comes_in_parts(const Candidate& candidate, size_t i, bool is_output) {
  const std::optional<Shape>& data = candidate.shape(0);
  if (is_output || i != 0 || !data || data->empty() || candidate.node().integer("axis", 0) != 0) return false;
  const int64_t inner = element_count(*data, 1, data->size());
  return rows_seen(candidate.traits(), inner * static_cast<int64_t>(element_bytes(candidate.type(0)))) > 0;
}

constexpr Operator kRows[] = {
    {"", "Gather", 1, kNewest, refuse, lower_gather, nullptr, comes_in_parts},
    {"", "GatherElements", 11, kNewest, refuse, lower_gather_elements},
    {"", "GatherND", 11, kNewest, refuse, lower_gather_nd},
    {"com.microsoft", "GatherND", 1, kNewest, refuse, lower_gather_nd},
};

}  // namespace

std::span<const Operator> gather_operators() { return kRows; }

}  // namespace ortolan::gpu
