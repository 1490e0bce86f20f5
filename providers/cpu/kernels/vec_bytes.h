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

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
