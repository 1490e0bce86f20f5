// Bytes and the vectors of numbers that they become. Included as vec.h is.
#pragma once

#include "cpu/kernels/vectors/vec.h"

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
#elif defined(__aarch64__)
typedef uint32_t WordLoose __attribute__((aligned(1), may_alias));
ORTOLAN_INLINE uint8x8_t load_word(const void* p) { return (uint8x8_t)vdup_n_u32(*static_cast<const WordLoose*>(p)); }
ORTOLAN_INLINE Vi widen_bytes(const uint8_t* p) { return (Vi)vmovl_u16(vget_low_u16(vmovl_u8(load_word(p)))); }
ORTOLAN_INLINE Vi widen_bytes(const int8_t* p) { return (Vi)vmovl_s16(vget_low_s16(vmovl_s8((int8x8_t)load_word(p)))); }
#else
template <class T>
ORTOLAN_INLINE Vi widen_bytes(const T* p) {
  return Vi{p[0], p[1], p[2], p[3]};
}
#endif

/** The low byte of each lane. */
ORTOLAN_INLINE void store_low_bytes(uint8_t* p, Vi v) {
#if defined(__aarch64__)
  const uint16x4_t shorts = vmovn_u32((uint32x4_t)v);
  *reinterpret_cast<WordLoose*>(p) = vget_lane_u32((uint32x2_t)vmovn_u16(vcombine_u16(shorts, shorts)), 0);
#else
  *reinterpret_cast<Bytes*>(p) = __builtin_convertvector(v & 255, Bytes);
#endif
}

/** saturate(round_half_even(x) + zero) */
ORTOLAN_INLINE Vi round_to_byte(Vf x, Vf zero, bool is_signed) {
  const Vf low = set1(is_signed ? -128.0f : 0.0f), high = set1(is_signed ? 127.0f : 255.0f);
  const Vf rounded = rint(x) + zero;
  return to_int(vmin(high, vmax(select(rounded == rounded, rounded, low), low)));
}

/** y[at + i] = saturate(round_half_even(sum * scale) + zero) for i < count. */
ORTOLAN_INLINE void requantize_vector(Vi sum, Vf scale, Vf zero, bool is_signed, int64_t count, void* y, int64_t at) {
  const Vi whole = round_to_byte(to_float(sum) * scale, zero, is_signed);
  uint8_t* to = static_cast<uint8_t*>(y) + at;
  if (count == kLanes) return store_low_bytes(to, whole);
#if defined(__AVX512F__)
  _mm512_mask_cvtepi32_storeu_epi8(to, first_lanes(count), (__m512i)whole);
#else
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<uint8_t>(whole[i]);
#endif
}

/** Bytes of four vectors of numbers, and what is added to each in 16 bits before, where there are instructions for it
    (ORTOLAN_BYTE_VECTORS). */
#if defined(__AVX2__) || defined(__aarch64__)
#define ORTOLAN_BYTE_VECTORS 1
#endif
#if defined(__AVX512BW__)
typedef __m512i ByteVector;
ORTOLAN_INLINE ByteVector zeros16(int32_t zero) { return _mm512_set1_epi16(static_cast<int16_t>(zero)); }
ORTOLAN_INLINE void store(uint8_t* p, ByteVector v) { _mm512_storeu_si512(p, v); }
/** The first `count` bytes, 1 to all. */
ORTOLAN_INLINE void store_first(uint8_t* p, ByteVector v, int64_t count) {
  _mm512_mask_storeu_epi8(p, ~uint64_t{0} >> (64 - count), v);
}
ORTOLAN_INLINE ByteVector nearest(Vf x) { return _mm512_cvtps_epi32((__m512)vmin(set1(1e9f), x)); }
ORTOLAN_INLINE ByteVector packed16(ByteVector a, ByteVector b, ByteVector zero) {
  return _mm512_adds_epi16(_mm512_packs_epi32(a, b), zero);
}
ORTOLAN_INLINE ByteVector packed8(ByteVector a, ByteVector b, bool is_signed) {
  return is_signed ? _mm512_packs_epi16(a, b) : _mm512_packus_epi16(a, b);
}
ORTOLAN_INLINE ByteVector side_by_side(ByteVector mixed) {
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return _mm512_permutexvar_epi32(order, mixed);
}
ORTOLAN_INLINE ByteVector lane_by_lane(ByteVector mixed) {
  const __m128i order = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return _mm512_shuffle_epi8(mixed, _mm512_broadcast_i32x4(order));
}
#elif defined(__AVX2__)
typedef __m256i ByteVector;
ORTOLAN_INLINE ByteVector zeros16(int32_t zero) { return _mm256_set1_epi16(static_cast<int16_t>(zero)); }
ORTOLAN_INLINE void store(uint8_t* p, ByteVector v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v); }
/** The first `count` bytes, 1 to all. */
ORTOLAN_INLINE void store_first(uint8_t* p, ByteVector v, int64_t count) {
  if (count == 32) return store(p, v);
  if (count == 16) return _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_castsi256_si128(v));
  uint8_t bytes[32];
  store(bytes, v);
  __builtin_memcpy(p, bytes, static_cast<size_t>(count));
}
ORTOLAN_INLINE ByteVector nearest(Vf x) { return _mm256_cvtps_epi32((__m256)vmin(set1(1e9f), x)); }
ORTOLAN_INLINE ByteVector packed16(ByteVector a, ByteVector b, ByteVector zero) {
  return _mm256_adds_epi16(_mm256_packs_epi32(a, b), zero);
}
ORTOLAN_INLINE ByteVector packed8(ByteVector a, ByteVector b, bool is_signed) {
  return is_signed ? _mm256_packs_epi16(a, b) : _mm256_packus_epi16(a, b);
}
ORTOLAN_INLINE ByteVector side_by_side(ByteVector mixed) {
  return _mm256_permutevar8x32_epi32(mixed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}
ORTOLAN_INLINE ByteVector lane_by_lane(ByteVector mixed) {
  const __m128i order = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return _mm256_shuffle_epi8(mixed, _mm256_broadcastsi128_si256(order));
}
#elif defined(__aarch64__)
typedef int8x16_t ByteVector;
ORTOLAN_INLINE ByteVector zeros16(int32_t zero) { return (ByteVector)vdupq_n_s16(static_cast<int16_t>(zero)); }
ORTOLAN_INLINE void store(uint8_t* p, ByteVector v) { vst1q_u8(p, (uint8x16_t)v); }
/** The first `count` bytes, 1 to all. */
ORTOLAN_INLINE void store_first(uint8_t* p, ByteVector v, int64_t count) {
  if (count == 16) return store(p, v);
  uint8_t bytes[16];
  store(bytes, v);
  __builtin_memcpy(p, bytes, static_cast<size_t>(count));
}
/** Conversion saturates; the maximum takes NaN's place. */
ORTOLAN_INLINE ByteVector nearest(Vf x) {
  return (ByteVector)vcvtnq_s32_f32(vmaxnmq_f32((float32x4_t)x, vdupq_n_f32(-1e9f)));
}
ORTOLAN_INLINE ByteVector packed16(ByteVector a, ByteVector b, ByteVector zero) {
  const int16x8_t both = vqmovn_high_s32(vqmovn_s32((int32x4_t)a), (int32x4_t)b);
  return (ByteVector)vqaddq_s16(both, (int16x8_t)zero);
}
ORTOLAN_INLINE ByteVector packed8(ByteVector a, ByteVector b, bool is_signed) {
  return is_signed ? vqmovn_high_s16(vqmovn_s16((int16x8_t)a), (int16x8_t)b)
                   : (ByteVector)vqmovun_high_s16(vqmovun_s16((int16x8_t)a), (int16x8_t)b);
}
ORTOLAN_INLINE ByteVector side_by_side(ByteVector mixed) { return mixed; }
ORTOLAN_INLINE ByteVector lane_by_lane(ByteVector mixed) {
  const uint8x16_t order = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
  return vqtbl1q_s8(mixed, order);
}
#endif

#if defined(ORTOLAN_BYTE_VECTORS)
/** saturate(round_half_even(x) + zero) of kVectors vectors, as bytes: four of each vector follow each other in each
    group of sixteen; `zero` in 16 bits. Saturation is that of packing to 16 bits, adding and packing to 8; what is too
    large for an integer is cut before, and NaN becomes the lowest byte. */
template <int kVectors>
ORTOLAN_INLINE ByteVector round_to_mixed_bytes(const Vf (&x)[kVectors], ByteVector zero, bool is_signed) {
  ByteVector whole[4] = {};
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) whole[v] = nearest(x[v]);
  return packed8(packed16(whole[0], whole[1], zero), packed16(whole[2], whole[3], zero), is_signed);
}

/** The same with the vectors' bytes side by side. */
template <int kVectors>
ORTOLAN_INLINE ByteVector round_to_bytes(const Vf (&x)[kVectors], ByteVector zero, bool is_signed) {
  return side_by_side(round_to_mixed_bytes(x, zero, is_signed));
}
#endif

/** The same of four vectors, lane by lane: y[4*lane + i] is that lane's byte of vector i. */
ORTOLAN_INLINE void round_lane_by_lane(const Vf (&x)[4], int32_t zero, bool is_signed, uint8_t* y) {
#if defined(ORTOLAN_BYTE_VECTORS)
  store(y, lane_by_lane(round_to_mixed_bytes(x, zeros16(zero), is_signed)));
#else
  for (int v = 0; v < 4; ++v) {
    const Vi whole = round_to_byte(x[v], set1(static_cast<float>(zero)), is_signed);
    for (int lane = 0; lane < kLanes; ++lane) y[4 * lane + v] = static_cast<uint8_t>(whole[lane]);
  }
#endif
}

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
