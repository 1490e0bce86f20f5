// Bytes and the vectors of numbers that they become. Included as vec.h is.
#pragma once

#include "cpu/kernels/vec.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {

typedef uint8_t Bytes __attribute__((vector_size(kLanes), aligned(1), may_alias));
typedef int8_t SignedBytes __attribute__((vector_size(kLanes), aligned(1), may_alias));

/** kLanes bytes from p. */
#if defined(__AVX512F__)
ORTOLAN_INLINE Vi widen_bytes(const uint8_t* p) {
  return (Vi)_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
ORTOLAN_INLINE Vi widen_bytes(const int8_t* p) {
  return (Vi)_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
#elif defined(__AVX2__)
ORTOLAN_INLINE Vi widen_bytes(const uint8_t* p) {
  return (Vi)_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
}
ORTOLAN_INLINE Vi widen_bytes(const int8_t* p) {
  return (Vi)_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
}
#else
template <class T>
ORTOLAN_INLINE Vi widen_bytes(const T* p) {
  return Vi{p[0], p[1], p[2], p[3]};
}
#endif

/** y[at + i] = saturate(round_half_even(sum * scale) + zero) for i < count. */
ORTOLAN_INLINE void requantize_vector(Vi sum, Vf scale, Vf zero, bool is_signed, int64_t count, void* y, int64_t at) {
  const Vf low = set1(is_signed ? -128.0f : 0.0f), high = set1(is_signed ? 127.0f : 255.0f);
  const Vf rounded = rint(to_float(sum) * scale) + zero;
  const Vi whole = to_int(vmin(high, vmax(select(rounded == rounded, rounded, low), low)));
  uint8_t* to = static_cast<uint8_t*>(y) + at;
  if (count == kLanes) {
    *reinterpret_cast<Bytes*>(to) = __builtin_convertvector(whole & 255, Bytes);
    return;
  }
#if defined(__AVX512F__)
  _mm512_mask_cvtepi32_storeu_epi8(to, first_lanes(count), (__m512i)whole);
#else
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<uint8_t>(whole[i]);
#endif
}

#if defined(__AVX512BW__)
/** saturate(round_half_even(x) + zero) of kVectors vectors, as bytes: four of each vector follow each other in each
    group of sixteen; `zero` in 16 bits. Saturation is that of packing to 16 bits, adding and packing to 8; what is too
    large for an integer is cut before, and NaN becomes the lowest byte. */
template <int kVectors>
ORTOLAN_INLINE __m512i round_to_mixed_bytes(const Vf (&x)[kVectors], __m512i zero, bool is_signed) {
  __m512i whole[4] = {};
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) whole[v] = _mm512_cvtps_epi32((__m512)vmin(set1(1e9f), x[v]));
  const __m512i low = _mm512_adds_epi16(_mm512_packs_epi32(whole[0], whole[1]), zero);
  const __m512i high = _mm512_adds_epi16(_mm512_packs_epi32(whole[2], whole[3]), zero);
  return is_signed ? _mm512_packs_epi16(low, high) : _mm512_packus_epi16(low, high);
}

/** The same with the vectors' bytes side by side. */
template <int kVectors>
ORTOLAN_INLINE __m512i round_to_bytes(const Vf (&x)[kVectors], __m512i zero, bool is_signed) {
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return _mm512_permutexvar_epi32(order, round_to_mixed_bytes(x, zero, is_signed));
}
#endif

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
