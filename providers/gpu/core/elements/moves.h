// Copies of parts of tensors to parts of others, and how work divides among items.
#pragma once

#include "gpu/core/operators.h"

namespace ortolan::gpu {

/** y[to_start + sum(c * to)] = x[from_start + sum(c * from)] for all coordinates c in the shape; counted in elements.
 */
struct StridedCopy {
  Shape shape;
  std::vector<int64_t> from, to;
  int64_t from_start = 0, to_start = 0;
};

/** The steps of a tensor without gaps. */
std::vector<int64_t> strides_of(const Shape& shape);

/** Launches the copy. Elements have 1, 2, 4 or 8 bytes. */
void copy_strided(Lowering& l, Memory from, Memory to, size_t bytes, StridedCopy copy);
/** Output 0 has the copy's shape, without gaps, and its elements are input 0's: a view where they lie so already. */
void move_input(Lowering& l, const Shape& shape, StridedCopy copy);

/** Fewer dimensions for the same copy. */
void merge_dimensions(StridedCopy& copy);
/** Whether the copy, of merged dimensions, is of that many elements as they lie. */
bool moves_nothing(const StridedCopy& copy, int64_t elements);

/** Launches y = an element, `count` times; `value` is one element, or nothing for zero. */
void fill(Lowering& l, Memory to, size_t bytes, int64_t count, std::span<const std::byte> value);

/** Where the places of an axis come from: source[i], outside where negative; no sources: they stay as they are. */
struct AxisSources {
  int64_t from, to;  // sizes
  std::vector<int32_t> source = {};
};
/** Output 0 is input 0 with each axis rearranged; `value`, one element, stands where one is outside. */
void pick(Lowering& l, const std::vector<AxisSources>& axes, Memory value);
inline constexpr int kMostPickedAxes = 6;

/** y's rows of `inner` elements are x's whose numbers, of `rows`, the int32 in `slots` are. */
void gather_slots(Lowering& l, Memory from, Memory to, size_t bytes, Memory slots, int64_t rows, int64_t inner);

/** How `rows` of `inner` elements divide: an item takes `chunk` elements of each of `block` rows. */
struct Grain {
  int group;  // items a group
  int64_t block, blocks, chunk, chunks;
  int64_t items() const { return blocks * chunks; }
};
/** Few elements an item where a group has many items, many where an item is all of a group. */
Grain grain_of(const DeviceTraits& traits, int64_t rows, int64_t inner);

/** The same for `count` elements that are alike. */
inline Grain grain_of(const DeviceTraits& traits, int64_t count) { return grain_of(traits, 1, count); }

/** Refuses types that cannot lie on a device. */
std::string refuse_unstorable(const Candidate& candidate, size_t i);

}  // namespace ortolan::gpu
