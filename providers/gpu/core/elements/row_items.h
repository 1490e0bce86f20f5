// How rows are split among work-items.
#pragma once

#include "gpu/core/graph/element_type.h"
#include "gpu/device/device.h"

namespace ortolan::gpu {

/** Items of a group on devices whose items are lanes of a vector: as many as it has, which share values without memory.
 */
inline constexpr int kLaneItems = 8;

/** Loops along a row that a kernel may have, one after the other. */
inline constexpr int64_t kRowLoops = 4;

/** The rounds of an item's loops along a row. */
inline int64_t row_rounds(int64_t columns, int items) { return kRowLoops * (columns / items + 1); }

/** Items of a group that has a row to itself: one on a CPU of wide vectors, where shared memory is no gain; more where
 * a driver would end the loops of few. */
inline int row_items(const DeviceTraits& traits, int64_t columns) {
  int items = traits.kind == DeviceClass::kWide ? 1 : traits.kind == DeviceClass::kLanes ? kLaneItems : 64;
  while (row_rounds(columns, items) > traits.max_rounds && 2 * items <= traits.max_group_items) items *= 2;
  return items;
}

/** A tensor as rows of `cols` elements that lie `inner` apart: those of the axes [first, last). */
struct Rows {
  int64_t cols, inner, count;

  Rows(const Shape& shape, size_t first, size_t last)
      : cols(element_count(shape, first, last)), inner(element_count(shape, last, shape.size())), count(0) {
    if (cols > 0) count = element_count(shape) / cols;
  }
};

}  // namespace ortolan::gpu
