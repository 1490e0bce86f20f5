// Ranges of lanes, and sorting lanes by even and odd. Included as vec.h is.
#pragma once

#include "cpu/kernels/vectors/vec.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {

/** Lanes [low, high) of p; the others are 0 and not read. */
#if defined(__AVX512F__)
typedef __mmask16 LaneRange;
ORTOLAN_INLINE LaneRange lane_range(int64_t low, int64_t high) {
  return static_cast<__mmask16>(((1u << high) - 1) & ~((1u << low) - 1));
}
ORTOLAN_INLINE Vf load_range(const float* p, LaneRange range) { return (Vf)_mm512_maskz_loadu_ps(range, p); }
ORTOLAN_INLINE Vf even_lanes(Vf a, Vf b) {
  return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
}
ORTOLAN_INLINE Vf odd_lanes(Vf a, Vf b) {
  return __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
}
#elif defined(__AVX2__)
typedef __m256i LaneRange;
ORTOLAN_INLINE LaneRange lane_range(int64_t low, int64_t high) {
  return _mm256_andnot_si256(first_lanes(low), first_lanes(high));
}
ORTOLAN_INLINE Vf load_range(const float* p, LaneRange range) { return (Vf)_mm256_maskload_ps(p, range); }
ORTOLAN_INLINE Vf even_lanes(Vf a, Vf b) { return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14); }
ORTOLAN_INLINE Vf odd_lanes(Vf a, Vf b) { return __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15); }
#else
struct LaneRange {
  int64_t low, high;
};
ORTOLAN_INLINE LaneRange lane_range(int64_t low, int64_t high) { return {low, high}; }
ORTOLAN_INLINE Vf load_range(const float* p, LaneRange range) {
  if (range.low == 0 && range.high == kLanes) return load(p);
  Vf v = {};
  for (int64_t i = range.low; i < range.high; ++i) v[i] = p[i];
  return v;
}
ORTOLAN_INLINE Vf even_lanes(Vf a, Vf b) { return __builtin_shufflevector(a, b, 0, 2, 4, 6); }
ORTOLAN_INLINE Vf odd_lanes(Vf a, Vf b) { return __builtin_shufflevector(a, b, 1, 3, 5, 7); }
#endif

/** The even and the odd lanes of a and b in an order of their own, at half the price; unmix() puts them in order. */
#if defined(__AVX512F__)
ORTOLAN_INLINE Vf mixed_even(Vf a, Vf b) {
  return __builtin_shufflevector(a, b, 0, 2, 16, 18, 4, 6, 20, 22, 8, 10, 24, 26, 12, 14, 28, 30);
}
ORTOLAN_INLINE Vf mixed_odd(Vf a, Vf b) {
  return __builtin_shufflevector(a, b, 1, 3, 17, 19, 5, 7, 21, 23, 9, 11, 25, 27, 13, 15, 29, 31);
}
ORTOLAN_INLINE Vf unmix(Vf v) {
  return __builtin_shufflevector(v, v, 0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
}
#elif defined(__AVX2__)
ORTOLAN_INLINE Vf mixed_even(Vf a, Vf b) { return __builtin_shufflevector(a, b, 0, 2, 8, 10, 4, 6, 12, 14); }
ORTOLAN_INLINE Vf mixed_odd(Vf a, Vf b) { return __builtin_shufflevector(a, b, 1, 3, 9, 11, 5, 7, 13, 15); }
ORTOLAN_INLINE Vf unmix(Vf v) { return __builtin_shufflevector(v, v, 0, 1, 4, 5, 2, 3, 6, 7); }
#else
ORTOLAN_INLINE Vf mixed_even(Vf a, Vf b) { return even_lanes(a, b); }
ORTOLAN_INLINE Vf mixed_odd(Vf a, Vf b) { return odd_lanes(a, b); }
ORTOLAN_INLINE Vf unmix(Vf v) { return v; }
#endif

/** a1 a2 ... b0. */
#if defined(__AVX512F__)
ORTOLAN_INLINE Vf next_lanes(Vf a, Vf b) {
  return __builtin_shufflevector(a, b, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
}
#elif defined(__AVX2__)
ORTOLAN_INLINE Vf next_lanes(Vf a, Vf b) { return __builtin_shufflevector(a, b, 1, 2, 3, 4, 5, 6, 7, 8); }
#else
ORTOLAN_INLINE Vf next_lanes(Vf a, Vf b) { return __builtin_shufflevector(a, b, 1, 2, 3, 4); }
#endif

ORTOLAN_INLINE int64_t clamp_lane(int64_t lane) { return most(0, least(lane, kLanes)); }

ORTOLAN_INLINE void store_count(float* p, int64_t count, Vf v) {
  if (count == kLanes) {
    store(p, v);
  } else {
    store_n(p, count, v);
  }
}

/** a0 b0 a1 b1 ...: the first and the second vector of it. */
#if defined(__AVX512F__)
ORTOLAN_INLINE Vf zip_low(Vf a, Vf b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
ORTOLAN_INLINE Vf zip_high(Vf a, Vf b) {
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}
#elif defined(__AVX2__)
ORTOLAN_INLINE Vf zip_low(Vf a, Vf b) { return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11); }
ORTOLAN_INLINE Vf zip_high(Vf a, Vf b) { return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15); }
#else
ORTOLAN_INLINE Vf zip_low(Vf a, Vf b) { return __builtin_shufflevector(a, b, 0, 4, 1, 5); }
ORTOLAN_INLINE Vf zip_high(Vf a, Vf b) { return __builtin_shufflevector(a, b, 2, 6, 3, 7); }
#endif

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
