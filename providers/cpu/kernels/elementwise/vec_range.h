// The range of vectors beside whatever is done to them. Included as vec.h is.
#pragma once

#include "cpu/kernels/elementwise/convert.h"
#include "cpu/kernels/vectors/vec.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {

/** Smallest and largest of what was noted and 0, lane by lane; NaN does not count. */
struct VectorRange {
  Vf low = {}, high = {};
};

ORTOLAN_INLINE Vf note(VectorRange& range, Vf v) {
  range.low = vmin(v, range.low);
  range.high = vmax(v, range.high);
  return v;
}

/** `to`, where not nullptr, comes to include the range. */
ORTOLAN_INLINE void include_in(ValueRange* to, const VectorRange& range) {
  if (to == nullptr) return;
  for (int i = 0; i < kLanes; ++i) {
    to->low = range.low[i] < to->low ? range.low[i] : to->low;
    to->high = range.high[i] > to->high ? range.high[i] : to->high;
  }
}

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
