// Vectors of 16-bit floats in memory. Included as vec.h is.
#pragma once

#include "cpu/kernels/vectors/unaligned.h"
#include "cpu/kernels/vectors/vec.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {

// The integer arithmetic of half precision, lane by lane: shift the mantissa into place and mend the exponent.
ORTOLAN_INLINE Vf widen_half(Vi h) {
  const Vi magnitude = (h & 0x7fff) << 13;
  const Vi exponent = magnitude & 0x0f800000;
  const Vf normal = from_bits(magnitude + (112 << 23));
  const Vf special = from_bits(magnitude + (224 << 23));
  const Vf denormal = from_bits(magnitude + (113 << 23)) - set1(6.103515625e-5f);
  const Vf value = select(exponent == 0x0f800000, special, select(exponent == 0, denormal, normal));
  return from_bits(bits(value) | ((h & 0x8000) << 16));
}

ORTOLAN_INLINE Vi narrow_to_half(Vf x) {
  const Vi sign = (bits(x) >> 16) & 0x8000;
  const Vi magnitude = bits(x) & 0x7fffffff;
  const Vi denormal = bits(from_bits(magnitude) + set1(0.5f)) - 0x3f000000;
  const Vi normal = (magnitude - (112 << 23) + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  const Vi special = magnitude > 0x7f800000 ? set1i(0x7e00) : set1i(0x7c00);
  const Vi finite = magnitude < (113 << 23) ? denormal : normal;
  return (magnitude >= (143 << 23) ? special : finite) | sign;
}

#if defined(__AVX512F__)
ORTOLAN_INLINE Vf load_bfloat16(const uint16_t* x) {
  const __m512i shorts = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x)));
  return (Vf)_mm512_slli_epi32(shorts, 16);
}
ORTOLAN_INLINE Vf load_half(const uint16_t* x) {
  return (Vf)_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x)));
}
ORTOLAN_INLINE void store_half(uint16_t* y, Vf v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(y), _mm512_cvtps_ph((__m512)v, 0));
}
#elif defined(__AVX2__)
ORTOLAN_INLINE Vf load_bfloat16(const uint16_t* x) {
  const __m256i shorts = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
  return (Vf)_mm256_slli_epi32(shorts, 16);
}
ORTOLAN_INLINE Vf load_half(const uint16_t* x) {
  return (Vf)_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
}
ORTOLAN_INLINE void store_half(uint16_t* y, Vf v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(y), _mm256_cvtps_ph((__m256)v, 0));
}
#elif defined(__aarch64__)
typedef uint16_t Shorts __attribute__((vector_size(8)));
typedef uint16_t ShortsLoose __attribute__((vector_size(8), aligned(1), may_alias));
ORTOLAN_INLINE Shorts load_shorts(const uint16_t* x) { return *reinterpret_cast<const ShortsLoose*>(x); }
ORTOLAN_INLINE Vf load_bfloat16(const uint16_t* x) { return (Vf)vshll_n_u16((uint16x4_t)load_shorts(x), 16); }
ORTOLAN_INLINE Vf load_half(const uint16_t* x) { return (Vf)vcvt_f32_f16((float16x4_t)load_shorts(x)); }
ORTOLAN_INLINE void store_half(uint16_t* y, Vf v) {
  *reinterpret_cast<ShortsLoose*>(y) = (Shorts)vcvt_f16_f32((float32x4_t)v);
}
#else
ORTOLAN_INLINE Vf load_bfloat16(const uint16_t* x) {
  return from_bits(Vi{read_unaligned(x), read_unaligned(x + 1), read_unaligned(x + 2), read_unaligned(x + 3)} << 16);
}
ORTOLAN_INLINE Vf load_half(const uint16_t* x) {
  return widen_half(Vi{read_unaligned(x), read_unaligned(x + 1), read_unaligned(x + 2), read_unaligned(x + 3)});
}
ORTOLAN_INLINE void store_half(uint16_t* y, Vf v) {
  const Vi h = narrow_to_half(v);
  for (int i = 0; i < kLanes; ++i) y[i] = static_cast<uint16_t>(h[i]);
}
#endif

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
