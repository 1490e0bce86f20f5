// Products of pairs of 16-bit integers on aarch64. Included as vec.h is.
#pragma once

#include "cpu/kernels/vectors/vec.h"

#if defined(__aarch64__)
namespace ortolan::cpu::kernels::ORTOLAN_ISA {

/** In each lane, the products of both 16-bit halves are added to the sum. */
ORTOLAN_INLINE Vi add_pair_products(Vi sum, Vi a, Vi b) {
  const int16x8_t x = (int16x8_t)a, y = (int16x8_t)b;
  const int32x4_t low = vmull_s16(vget_low_s16(x), vget_low_s16(y)), high = vmull_high_s16(x, y);
  return sum + (Vi)vpaddq_s32(low, high);
}

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
#endif
