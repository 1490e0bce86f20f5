// Sums of products of a group of bytes or words, for one instruction set. Included as vec.h is.
#pragma once

#include "cpu/kernels/vectors/isa_level.h"
#include "cpu/kernels/vectors/vec_pairs.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

#if defined(__AVX512VNNI__)
constexpr int kGroup = 4;
ORTOLAN_INLINE Vi dot(Vi sum, Vi a, Vi b) { return (Vi)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)a, (__m512i)b); }
#elif defined(__AVX512F__)
constexpr int kGroup = 2;
ORTOLAN_INLINE Vi dot(Vi sum, Vi a, Vi b) { return sum + (Vi)_mm512_madd_epi16((__m512i)a, (__m512i)b); }
#elif defined(__AVXVNNI__)
constexpr int kGroup = 4;
ORTOLAN_INLINE Vi dot(Vi sum, Vi a, Vi b) { return (Vi)_mm256_dpbusd_avx_epi32((__m256i)sum, (__m256i)a, (__m256i)b); }
#elif defined(__AVX2__)
constexpr int kGroup = 2;
ORTOLAN_INLINE Vi dot(Vi sum, Vi a, Vi b) { return sum + (Vi)_mm256_madd_epi16((__m256i)a, (__m256i)b); }
#elif defined(__ARM_FEATURE_DOTPROD)
constexpr int kGroup = 4;
ORTOLAN_INLINE Vi dot(Vi sum, Vi a, Vi b) { return (Vi)vdotq_s32((int32x4_t)sum, (int8x16_t)a, (int8x16_t)b); }
#elif defined(__aarch64__)
constexpr int kGroup = 2;
ORTOLAN_INLINE Vi dot(Vi sum, Vi a, Vi b) { return add_pair_products(sum, a, b); }
#elif defined(__SSE2__)
constexpr int kGroup = 2;
ORTOLAN_INLINE Vi dot(Vi sum, Vi a, Vi b) { return sum + (Vi)_mm_madd_epi16((__m128i)a, (__m128i)b); }
#else
constexpr int kGroup = 2;
ORTOLAN_INLINE Vi dot(Vi sum, Vi a, Vi b) {
  return sum + ((a << 16) >> 16) * ((b << 16) >> 16) + (a >> 16) * (b >> 16);
}
#endif

}  // namespace
}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
