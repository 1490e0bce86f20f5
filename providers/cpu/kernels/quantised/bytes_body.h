// Spans of bytes for one instruction set. Included as vec.h is.
#pragma once

#include "cpu/kernels/quantised/bytes_kernels.h"
#include "cpu/kernels/vectors/vec.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

void map(const uint8_t* table, const uint8_t* x, int64_t n, uint8_t* y) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t word, mapped = 0;
    std::memcpy(&word, x + i, 8);
    for (int j = 0; j < 64; j += 8) mapped |= uint64_t{table[word >> j & 255]} << j;
    std::memcpy(y + i, &mapped, 8);
  }
  for (; i < n; ++i) y[i] = table[x[i]];
}

template <bool kSigned>
ORTOLAN_INLINE int32_t one(const uint8_t* x) {
  return kSigned ? static_cast<int8_t>(*x) : *x;
}

template <bool kSigned>
ORTOLAN_INLINE Vi load_lanes(const uint8_t* x) {
#if defined(__AVX512F__)
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x));
  return (Vi)(kSigned ? _mm512_cvtepi8_epi32(bytes) : _mm512_cvtepu8_epi32(bytes));
#elif defined(__AVX2__)
  const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(x));
  return (Vi)(kSigned ? _mm256_cvtepi8_epi32(bytes) : _mm256_cvtepu8_epi32(bytes));
#else
  return Vi{one<kSigned>(x), one<kSigned>(x + 1), one<kSigned>(x + 2), one<kSigned>(x + 3)};
#endif
}

/** The low byte of each lane. */
ORTOLAN_INLINE void store_lanes(uint8_t* y, Vi lanes) {
#if defined(__AVX512F__)
  _mm_storeu_si128(reinterpret_cast<__m128i*>(y), _mm512_cvtepi32_epi8((__m512i)lanes));
#elif defined(__AVX2__)
  const __m256i low = (__m256i)(lanes & 255);
  const __m128i words = _mm_packus_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(y), _mm_packus_epi16(words, words));
#else
  for (int i = 0; i < kLanes; ++i) y[i] = static_cast<uint8_t>(lanes[i]);
#endif
}

template <bool kSigned, bool kProduct>
ORTOLAN_INLINE Vi join_lanes(const BytePair& pair, Vi a, Vi b) {
  const Vf from_a = to_float(a - pair.zero_a), from_b = to_float(b - pair.zero_b);
  const Vf value =
      kProduct ? from_a * from_b * set1(pair.factor_a) : fma(from_a, set1(pair.factor_a), from_b * set1(pair.factor_b));
  const Vf low = set1(kSigned ? -128.0f : 0.0f), high = set1(kSigned ? 127.0f : 255.0f);
  const Vf rounded = rint(value) + set1(static_cast<float>(pair.zero_y));
  return to_int(vmin(vmax(select(rounded == rounded, rounded, low), low), high));
}

template <bool kSigned, bool kProduct, bool kScalarA, bool kScalarB>
void join_span(const BytePair pair, const uint8_t* a, const uint8_t* b, int64_t n, uint8_t* y) {
  const Vi one_a = set1i(kScalarA ? one<kSigned>(a) : 0), one_b = set1i(kScalarB ? one<kSigned>(b) : 0);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    store_lanes(y + i, join_lanes<kSigned, kProduct>(pair, kScalarA ? one_a : load_lanes<kSigned>(a + i),
                                                     kScalarB ? one_b : load_lanes<kSigned>(b + i)));
  }
  if (i == n) return;
  uint8_t tail_a[kLanes] = {}, tail_b[kLanes] = {};
  if (!kScalarA) std::memcpy(tail_a, a + i, n - i);
  if (!kScalarB) std::memcpy(tail_b, b + i, n - i);
  uint8_t result[kLanes];
  store_lanes(result, join_lanes<kSigned, kProduct>(pair, kScalarA ? one_a : load_lanes<kSigned>(tail_a),
                                                    kScalarB ? one_b : load_lanes<kSigned>(tail_b)));
  std::memcpy(y + i, result, n - i);
}

template <bool kProduct, bool kSigned>
void join_signed(const BytePair& pair, const uint8_t* a, const uint8_t* b, int64_t n, uint8_t* y) {
  if (pair.scalar_a) return join_span<kSigned, kProduct, true, false>(pair, a, b, n, y);
  if (pair.scalar_b) return join_span<kSigned, kProduct, false, true>(pair, a, b, n, y);
  join_span<kSigned, kProduct, false, false>(pair, a, b, n, y);
}

template <bool kProduct>
void join(const BytePair& pair, const uint8_t* a, const uint8_t* b, int64_t n, uint8_t* y) {
  if (pair.is_signed) return join_signed<kProduct, true>(pair, a, b, n, y);
  join_signed<kProduct, false>(pair, a, b, n, y);
}

// Signed bytes are summed as unsigned ones 128 above them.
int64_t sum(const uint8_t* x, int64_t n, bool is_signed) {
  int64_t total = is_signed ? -128 * n : 0, i = 0;
  const uint8_t flip = is_signed ? 128 : 0;
#if defined(__AVX512BW__)
  __m512i sums = _mm512_setzero_si512();
  const __m512i flips = _mm512_set1_epi8(static_cast<char>(flip));
  for (; i + 64 <= n; i += 64) {
    const __m512i bytes = _mm512_xor_si512(_mm512_loadu_si512(x + i), flips);
    sums = _mm512_add_epi64(sums, _mm512_sad_epu8(bytes, _mm512_setzero_si512()));
  }
  if (i < n) {
    const __mmask64 rest = ~uint64_t{0} >> (64 - (n - i));
    const __m512i bytes = _mm512_maskz_mov_epi8(rest, _mm512_xor_si512(_mm512_maskz_loadu_epi8(rest, x + i), flips));
    sums = _mm512_add_epi64(sums, _mm512_sad_epu8(bytes, _mm512_setzero_si512()));
    i = n;
  }
  total += _mm512_reduce_add_epi64(sums);
#elif defined(__AVX2__)
  __m256i sums = _mm256_setzero_si256();
  const __m256i flips = _mm256_set1_epi8(static_cast<char>(flip));
  for (; i + 32 <= n; i += 32) {
    const __m256i bytes = _mm256_xor_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i)), flips);
    sums = _mm256_add_epi64(sums, _mm256_sad_epu8(bytes, _mm256_setzero_si256()));
  }
  int64_t lanes[4];
  std::memcpy(lanes, &sums, sizeof lanes);
  total += lanes[0] + lanes[1] + lanes[2] + lanes[3];
#endif
  for (; i < n; ++i) total += x[i] ^ flip;
  return total;
}

void accumulate(const uint8_t* x, int64_t n, bool is_signed, int32_t* sums) {
  if (is_signed) {
    const auto* bytes = reinterpret_cast<const int8_t*>(x);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) sums[i] += bytes[i];
  } else {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) sums[i] += x[i];
  }
}

int32_t dot_s16(const int16_t* a, const int16_t* b, int64_t n) {
  int32_t total = 0;
  for (int64_t i = 0; i < n; ++i) total += int32_t{a[i]} * int32_t{b[i]};
  return total;
}

#if defined(__AVX512BW__)
__attribute__((target("avx512vbmi"))) void map_vbmi(const uint8_t* table, const uint8_t* x, int64_t n, uint8_t* y) {
  __m512i parts[4];
  for (int i = 0; i < 4; ++i) parts[i] = _mm512_loadu_si512(table + 64 * i);
  for (int64_t i = 0; i < n; i += 64) {
    const __mmask64 some = n - i >= 64 ? ~uint64_t{0} : (uint64_t{1} << (n - i)) - 1;
    const __m512i bytes = _mm512_maskz_loadu_epi8(some, x + i);
    const __m512i lower = _mm512_permutex2var_epi8(parts[0], bytes, parts[1]);
    const __m512i upper = _mm512_permutex2var_epi8(parts[2], bytes, parts[3]);
    _mm512_mask_storeu_epi8(y + i, some, _mm512_mask_mov_epi8(lower, _mm512_movepi8_mask(bytes), upper));
  }
}

/** Uses VBMI, which no level of instruction sets promises, where the processor has it. */
void best_map(const uint8_t* table, const uint8_t* x, int64_t n, uint8_t* y) {
  static const bool vbmi = __builtin_cpu_supports("avx512vbmi") != 0;
  vbmi&& n >= 64 ? map_vbmi(table, x, n, y) : map(table, x, n, y);
}
#else
constexpr auto best_map = map;
#endif

}  // namespace

extern const BytesKernels kBytes;
const BytesKernels kBytes = {best_map, join<false>, join<true>, sum, accumulate, dot_s16};

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
