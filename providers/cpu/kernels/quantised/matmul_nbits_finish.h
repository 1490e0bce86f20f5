// Zeros and results of products with narrow weights. Included as vec.h is.
#pragma once

#include "cpu/kernels/quantised/matmul_nbits_kernels.h"
#include "cpu/kernels/vectors/vec.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

typedef int8_t LaneBytes __attribute__((vector_size(kLanes), aligned(1), may_alias));

ORTOLAN_INLINE Vi lane_bytes(const int8_t* p) {
#if defined(__AVX512F__)
  return (Vi)_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
#elif defined(__AVX2__)
  return (Vi)_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
#else
  return __builtin_convertvector(*reinterpret_cast<const LaneBytes*>(p), Vi);
#endif
}

/** The bytes among the zeros of block `at` (counted through all panels), less the middle; 0 where there are none. */
ORTOLAN_INLINE Vi zero_offsets(const NBitsPanels& b, int64_t at) {
  return b.zeros == nullptr ? Vi{} : lane_bytes(b.zeros + at * kLanes);
}

ORTOLAN_INLINE void store_result(const NBitsResult& r, int64_t row, int64_t column, Vf v) {
  const int64_t count = least(kLanes, r.columns - column);
  if (count <= 0) return;
  float* to = r.c + row * r.ldc + column;
  if (count == kLanes) return store(to, r.bias != nullptr ? v + load(r.bias + column) : v);
  store_n(to, count, r.bias != nullptr ? v + load_n(r.bias + column, count) : v);
}

}  // namespace
}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
