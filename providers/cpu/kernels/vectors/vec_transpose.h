// Transposition of small squares of 4-byte elements in registers. Included as vec.h is.
#pragma once

#include "cpu/kernels/vectors/vec.h"

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

/** Four floats at p, p + stride, ... as one vector. */
ORTOLAN_INLINE Vf load_quads(const float* p, int64_t stride) {
#if defined(__AVX512F__)
  const __m256 low = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p)), _mm_loadu_ps(p + stride), 1);
  const __m512 v = _mm512_insertf32x4(_mm512_castps256_ps512(low), _mm_loadu_ps(p + 2 * stride), 2);
  return (Vf)_mm512_insertf32x4(v, _mm_loadu_ps(p + 3 * stride), 3);
#elif defined(__AVX2__)
  return (Vf)_mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p)), _mm_loadu_ps(p + stride), 1);
#else
  static_cast<void>(stride);
  return load(p);
#endif
}

/** Four floats from each of kLanes rows `stride` apart: out[i] holds element i of every row. */
ORTOLAN_INLINE void load_transposed(const float* p, int64_t stride, Vf (&out)[4]) {
  const Vf row0 = load_quads(p, 4 * stride), row1 = load_quads(p + stride, 4 * stride);
  const Vf row2 = load_quads(p + 2 * stride, 4 * stride), row3 = load_quads(p + 3 * stride, 4 * stride);
  const Vf a = mix_low(row0, row1), b = mix_low(row2, row3);
  const Vf c = mix_high(row0, row1), d = mix_high(row2, row3);
  out[0] = low_pairs(a, b);
  out[1] = high_pairs(a, b);
  out[2] = low_pairs(c, d);
  out[3] = high_pairs(c, d);
}

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
