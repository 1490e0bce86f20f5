// Transposition of small squares of 4-byte elements in registers. Included as vec.h is.
#pragma once

#include "cpu/kernels/vec.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {

// Within each group of four lanes: a0 b0 a1 b1, a2 b2 a3 b3, a0 a1 b0 b1 and a2 a3 b2 b3.
#if defined(__AVX512F__)
ORTOLAN_INLINE Vf mix_low(Vf a, Vf b) { return (Vf)_mm512_unpacklo_ps((__m512)a, (__m512)b); }
ORTOLAN_INLINE Vf mix_high(Vf a, Vf b) { return (Vf)_mm512_unpackhi_ps((__m512)a, (__m512)b); }
ORTOLAN_INLINE Vf low_pairs(Vf a, Vf b) { return (Vf)_mm512_shuffle_ps((__m512)a, (__m512)b, 0x44); }
ORTOLAN_INLINE Vf high_pairs(Vf a, Vf b) { return (Vf)_mm512_shuffle_ps((__m512)a, (__m512)b, 0xee); }
#elif defined(__AVX2__)
ORTOLAN_INLINE Vf mix_low(Vf a, Vf b) { return (Vf)_mm256_unpacklo_ps((__m256)a, (__m256)b); }
ORTOLAN_INLINE Vf mix_high(Vf a, Vf b) { return (Vf)_mm256_unpackhi_ps((__m256)a, (__m256)b); }
ORTOLAN_INLINE Vf low_pairs(Vf a, Vf b) { return (Vf)_mm256_shuffle_ps((__m256)a, (__m256)b, 0x44); }
ORTOLAN_INLINE Vf high_pairs(Vf a, Vf b) { return (Vf)_mm256_shuffle_ps((__m256)a, (__m256)b, 0xee); }
#else
ORTOLAN_INLINE Vf mix_low(Vf a, Vf b) { return __builtin_shufflevector(a, b, 0, 4, 1, 5); }
ORTOLAN_INLINE Vf mix_high(Vf a, Vf b) { return __builtin_shufflevector(a, b, 2, 6, 3, 7); }
ORTOLAN_INLINE Vf low_pairs(Vf a, Vf b) { return __builtin_shufflevector(a, b, 0, 1, 4, 5); }
ORTOLAN_INLINE Vf high_pairs(Vf a, Vf b) { return __builtin_shufflevector(a, b, 2, 3, 6, 7); }
#endif

/** Four floats from each of kLanes rows `stride` apart: out[i] holds element i of every row. */
ORTOLAN_INLINE void load_transposed(const float* p, int64_t stride, Vf (&out)[4]) {
  typedef float Quad __attribute__((vector_size(16), aligned(1), may_alias));
  union {
    Vf whole;
    Quad quads[kLanes / 4];
  } rows[4];
  for (int q = 0; q < kLanes / 4; ++q) {
    for (int r = 0; r < 4; ++r) rows[r].quads[q] = *reinterpret_cast<const Quad*>(p + (4 * q + r) * stride);
  }
  const Vf a = mix_low(rows[0].whole, rows[1].whole), b = mix_low(rows[2].whole, rows[3].whole);
  const Vf c = mix_high(rows[0].whole, rows[1].whole), d = mix_high(rows[2].whole, rows[3].whole);
  out[0] = low_pairs(a, b);
  out[1] = high_pairs(a, b);
  out[2] = low_pairs(c, d);
  out[3] = high_pairs(c, d);
}

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
