// Vectors of fp32 and int32 lanes in the width of one instruction set. Only bodies include this, after
// defining ORTOLAN_ISA as the namespace that keeps their inline functions apart from other instruction sets'.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace ortolan::cpu::kernels::ORTOLAN_ISA {

#if defined(__AVX512F__)
constexpr int kLanes = 16;
#elif defined(__AVX2__)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif
constexpr int kVectorBytes = kLanes * 4;
constexpr int64_t kLineFloats = 16;  // of a cache line

typedef float Vf __attribute__((vector_size(kVectorBytes)));
typedef int32_t Vi __attribute__((vector_size(kVectorBytes)));
typedef float VfLoose __attribute__((vector_size(kVectorBytes), aligned(1), may_alias));
typedef int32_t ViLoose __attribute__((vector_size(kVectorBytes), aligned(1), may_alias));

typedef float FloatLoose __attribute__((aligned(1), may_alias));
typedef float PairLoose __attribute__((vector_size(8), aligned(1), may_alias));

#define ORTOLAN_INLINE static inline __attribute__((always_inline))

ORTOLAN_INLINE Vf load(const float* p) { return *reinterpret_cast<const VfLoose*>(p); }
ORTOLAN_INLINE void store(float* p, Vf v) { *reinterpret_cast<VfLoose*>(p) = v; }
ORTOLAN_INLINE Vi load(const int32_t* p) { return *reinterpret_cast<const ViLoose*>(p); }
ORTOLAN_INLINE void store(int32_t* p, Vi v) { *reinterpret_cast<ViLoose*>(p) = v; }

ORTOLAN_INLINE int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
ORTOLAN_INLINE int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

#if defined(__AVX512F__)
ORTOLAN_INLINE __mmask16 first_lanes(int64_t n) { return static_cast<__mmask16>((1u << n) - 1); }
ORTOLAN_INLINE Vf load_n(const float* p, int64_t n) { return (Vf)_mm512_maskz_loadu_ps(first_lanes(n), p); }
ORTOLAN_INLINE void store_n(float* p, int64_t n, Vf v) { _mm512_mask_storeu_ps(p, first_lanes(n), (__m512)v); }
ORTOLAN_INLINE Vf set1(float x) { return (Vf)_mm512_set1_ps(x); }
ORTOLAN_INLINE Vf fma(Vf a, Vf b, Vf c) { return (Vf)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c); }
ORTOLAN_INLINE Vf vmin(Vf a, Vf b) { return (Vf)_mm512_min_ps((__m512)a, (__m512)b); }
ORTOLAN_INLINE Vf vmax(Vf a, Vf b) { return (Vf)_mm512_max_ps((__m512)a, (__m512)b); }
ORTOLAN_INLINE Vf vsqrt(Vf a) { return (Vf)_mm512_sqrt_ps((__m512)a); }
ORTOLAN_INLINE Vf rint(Vf a) { return (Vf)_mm512_roundscale_ps((__m512)a, 8); }
ORTOLAN_INLINE Vf floor(Vf a) { return (Vf)_mm512_roundscale_ps((__m512)a, 9); }
ORTOLAN_INLINE Vf ceil(Vf a) { return (Vf)_mm512_roundscale_ps((__m512)a, 10); }
ORTOLAN_INLINE Vf scale2(Vf a, Vf n) { return (Vf)_mm512_scalef_ps((__m512)a, (__m512)n); }
#elif defined(__AVX2__)
ORTOLAN_INLINE __m256i first_lanes(int64_t n) {
  return (
      __m256i)(_mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)));
}
ORTOLAN_INLINE Vf load_n(const float* p, int64_t n) { return (Vf)_mm256_maskload_ps(p, first_lanes(n)); }
/** Without a masked store, which takes some processors dozens of cycles. */
ORTOLAN_INLINE void store_n(float* p, int64_t n, Vf v) {
  if (n >= kLanes) return store(p, v);
  if (n <= 0) return;
  __m128 part = _mm256_castps256_ps128((__m256)v);
  if (n & 4) {
    _mm_storeu_ps(p, part);
    part = _mm256_extractf128_ps((__m256)v, 1);
    p += 4;
  }
  if (n & 2) {
    _mm_storel_pi(reinterpret_cast<__m64*>(p), part);
    part = _mm_movehl_ps(part, part);
    p += 2;
  }
  if (n & 1) _mm_store_ss(p, part);
}
ORTOLAN_INLINE Vf set1(float x) { return (Vf)_mm256_set1_ps(x); }
ORTOLAN_INLINE Vf fma(Vf a, Vf b, Vf c) { return (Vf)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c); }
ORTOLAN_INLINE Vf vmin(Vf a, Vf b) { return (Vf)_mm256_min_ps((__m256)a, (__m256)b); }
ORTOLAN_INLINE Vf vmax(Vf a, Vf b) { return (Vf)_mm256_max_ps((__m256)a, (__m256)b); }
ORTOLAN_INLINE Vf vsqrt(Vf a) { return (Vf)_mm256_sqrt_ps((__m256)a); }
ORTOLAN_INLINE Vf rint(Vf a) { return (Vf)_mm256_round_ps((__m256)a, 8); }
ORTOLAN_INLINE Vf floor(Vf a) { return (Vf)_mm256_round_ps((__m256)a, 9); }
ORTOLAN_INLINE Vf ceil(Vf a) { return (Vf)_mm256_round_ps((__m256)a, 10); }
#elif defined(__aarch64__)
ORTOLAN_INLINE Vf load_n(const float* p, int64_t n) {
  if (n >= kLanes) return load(p);
  if (n <= 0) return Vf{};
  Vf v = {};
  if (n == 1) {
    v[0] = *reinterpret_cast<const FloatLoose*>(p);
    return v;
  }
  const PairLoose pair = *reinterpret_cast<const PairLoose*>(p);
  v[0] = pair[0], v[1] = pair[1];
  if (n == 3) v[2] = *reinterpret_cast<const FloatLoose*>(p + 2);
  return v;
}
ORTOLAN_INLINE void store_n(float* p, int64_t n, Vf v) {
  if (n >= kLanes) return store(p, v);
  if (n >= 2) *reinterpret_cast<PairLoose*>(p) = PairLoose{v[0], v[1]};
  if (n == 1) *reinterpret_cast<FloatLoose*>(p) = v[0];
  if (n == 3) *reinterpret_cast<FloatLoose*>(p + 2) = v[2];
}
ORTOLAN_INLINE Vf set1(float x) { return Vf{x, x, x, x}; }
ORTOLAN_INLINE Vf fma(Vf a, Vf b, Vf c) { return (Vf)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b); }
/** The second operand where either is NaN. */
ORTOLAN_INLINE Vf vmin(Vf a, Vf b) { return a < b ? a : b; }
ORTOLAN_INLINE Vf vmax(Vf a, Vf b) { return a > b ? a : b; }
ORTOLAN_INLINE Vf vsqrt(Vf a) { return (Vf)vsqrtq_f32((float32x4_t)a); }
ORTOLAN_INLINE Vf rint(Vf a) { return (Vf)vrndnq_f32((float32x4_t)a); }
ORTOLAN_INLINE Vf floor(Vf a) { return (Vf)vrndmq_f32((float32x4_t)a); }
ORTOLAN_INLINE Vf ceil(Vf a) { return (Vf)vrndpq_f32((float32x4_t)a); }
#else
ORTOLAN_INLINE Vf load_n(const float* p, int64_t n) {
  Vf v = {};
  for (int64_t i = 0; i < n; ++i) __builtin_memcpy(reinterpret_cast<char*>(&v) + i * 4, p + i, 4);
  return v;
}
ORTOLAN_INLINE void store_n(float* p, int64_t n, Vf v) {
  for (int64_t i = 0; i < n; ++i) p[i] = v[i];
}
ORTOLAN_INLINE Vf set1(float x) { return Vf{x, x, x, x}; }
ORTOLAN_INLINE Vf fma(Vf a, Vf b, Vf c) { return a * b + c; }
/** The second operand where either is NaN. */
ORTOLAN_INLINE Vf vmin(Vf a, Vf b) { return a < b ? a : b; }
ORTOLAN_INLINE Vf vmax(Vf a, Vf b) { return a > b ? a : b; }
ORTOLAN_INLINE Vf vsqrt(Vf a) {
  for (int i = 0; i < kLanes; ++i) a[i] = std::sqrt(a[i]);
  return a;
}
#endif

/** select(m, a, b): a where m's lane is all ones, b where it is zero. */
ORTOLAN_INLINE Vf select(Vi m, Vf a, Vf b) { return m ? a : b; }
ORTOLAN_INLINE Vi set1i(int32_t x) { return Vi{} + x; }
ORTOLAN_INLINE Vi bits(Vf v) { return (Vi)v; }
ORTOLAN_INLINE Vf from_bits(Vi v) { return (Vf)v; }
ORTOLAN_INLINE Vf vabs(Vf v) { return from_bits(bits(v) & 0x7fffffff); }
ORTOLAN_INLINE Vf with_sign(Vf magnitude, Vf sign) {
  return from_bits((bits(magnitude) & 0x7fffffff) | (bits(sign) & INT32_MIN));
}
ORTOLAN_INLINE Vf to_float(Vi v) { return __builtin_convertvector(v, Vf); }
ORTOLAN_INLINE Vi to_int(Vf v) { return __builtin_convertvector(v, Vi); }

#if !defined(__AVX2__) && !defined(__aarch64__)
ORTOLAN_INLINE Vf rint(Vf a) {
  const Vf big = set1(8388608.0f);
  const Vf magnitude = vabs(a);
  const Vf rounded = (magnitude + big) - big;
  return with_sign(select(magnitude < big, rounded, magnitude), a);
}
ORTOLAN_INLINE Vf floor(Vf a) {
  const Vf near = rint(a);
  return with_sign(near - select(near > a, set1(1), Vf{}), near);
}
ORTOLAN_INLINE Vf ceil(Vf a) {
  const Vf near = rint(a);
  return with_sign(near + select(near < a, set1(1), Vf{}), a);
}
#endif
#if !defined(__AVX512F__)
/** a * 2^n for whole n in [-252, 254]; in two factors, so that results may be denormal. */
ORTOLAN_INLINE Vf scale2(Vf a, Vf n) {
  const Vi whole = to_int(n);
  const Vi half = whole >> 1;
  return a * from_bits((half + 127) << 23) * from_bits((whole - half + 127) << 23);
}
#endif

/** The same where neither a nor the result is denormal or infinite. */
ORTOLAN_INLINE Vf add_to_exponent(Vf a, Vf n) {
#if defined(__AVX512F__)
  return scale2(a, n);
#else
  return from_bits(bits(a) + (to_int(n) << 23));
#endif
}

ORTOLAN_INLINE float sum_lanes(Vf v) {
#if defined(__AVX512F__)
  return _mm512_reduce_add_ps((__m512)v);
#elif defined(__AVX2__)
  __m128 sum = _mm_add_ps(_mm256_castps256_ps128((__m256)v), _mm256_extractf128_ps((__m256)v, 1));
  sum = _mm_add_ps(sum, _mm_movehl_ps(sum, sum));
  return _mm_cvtss_f32(_mm_add_ss(sum, _mm_movehdup_ps(sum)));
#elif defined(__aarch64__)
  return vaddvq_f32((float32x4_t)v);
#else
  return (v[0] + v[2]) + (v[1] + v[3]);
#endif
}

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
