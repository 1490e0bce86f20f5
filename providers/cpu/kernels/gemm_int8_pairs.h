// Products of bytes that add neighbours' products in 16 bits, and packing of weights for them, with AVX2. Included as
// vec.h is.
#pragma once

#include "cpu/kernels/gemm_int8_kernels.h"
#include "cpu/kernels/isa_level.h"
#include "cpu/kernels/vec.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

#if defined(__AVX2__) && !defined(__AVX512F__)

constexpr int kPairsGroup = 4;

// Four products of bytes, those of A without a sign; two neighbours' must fit 16 bits.
struct PairsOfBytes {
  static constexpr bool kSpareGroups = true, kSpareWords = false;
  __attribute__((always_inline)) static Vi add(Vi sum, Vi a, Vi b) {
    const __m256i pairs = _mm256_maddubs_epi16((__m256i)a, (__m256i)b);
    return sum + (Vi)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
  }
};

// The same with the signs on the other side.
struct PairsOfWeights {
  static constexpr bool kSpareGroups = false, kSpareWords = true;
  __attribute__((always_inline)) static Vi add(Vi sum, Vi a, Vi b) { return PairsOfBytes::add(sum, b, a); }
};

ORTOLAN_INLINE __m256i sums_of_words(__m256i words, bool are_signed) {
  const __m256i ones = _mm256_set1_epi8(1);
  const __m256i pairs = are_signed ? _mm256_maddubs_epi16(ones, words) : _mm256_maddubs_epi16(words, ones);
  return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
}

// pack_group for groups of four, of bytes that are signed then or not.
template <bool kSigned>
void pack_words(const uint8_t* const* rows, int64_t columns, bool, bool flip, int32_t* to, int32_t* sums) {
  const uint8_t mask = flip ? 0x80 : 0;
  const __m128i masks = _mm_set1_epi8(static_cast<char>(mask));
  int64_t c = 0;
  for (; c + kLanes <= columns; c += kLanes) {
    const auto row = [&](int i) __attribute__((always_inline)) {
      return _mm_xor_si128(_mm_loadu_si64(rows[i] + c), masks);
    };
    const __m128i low = _mm_unpacklo_epi8(row(0), row(1)), high = _mm_unpacklo_epi8(row(2), row(3));
    const __m256i words = _mm256_set_m128i(_mm_unpackhi_epi16(low, high), _mm_unpacklo_epi16(low, high));
    store(to + c, (Vi)words);
    store(sums + c, load(sums + c) + (Vi)sums_of_words(words, kSigned));
  }
  for (; c < columns; ++c) {
    uint8_t bytes[kPairsGroup];
    for (int i = 0; i < kPairsGroup; ++i) {
      bytes[i] = rows[i][c] ^ mask;
      sums[c] += kSigned ? static_cast<int8_t>(bytes[i]) : bytes[i];
    }
    __builtin_memcpy(to + c, bytes, sizeof bytes);
  }
}

template <bool kSigned>
void pack_rows_of_words(int vectors, const PanelRows& p, int32_t* to, int32_t* sums) {
  for (int64_t g = 0; g < p.groups; ++g, to += vectors * kLanes) {
    const uint8_t* rows[kPairsGroup];
    for (int i = 0; i < kPairsGroup; ++i) rows[i] = p.rows + (g * kPairsGroup + i) * p.stride;
    pack_words<kSigned>(rows, p.columns, p.is_signed, p.flip, to, sums);
    for (int64_t c = p.columns; c < vectors * kLanes; ++c) to[c] = 0;
  }
}

// Whether the products of two neighbours with any bytes, 0 to 255, may exceed 16 bits: 255 times the weights of one
// sign then saturates. Without that it is a multiple of 255, which the ends of the range are not.
bool has_large_pairs(int vectors, const int32_t* words) {
  const __m256i zero = _mm256_setzero_si256(), most = _mm256_set1_epi8(-1);
  __m256i large = zero;
  for (int j = 0; j < vectors; ++j) {
    const auto w = (__m256i)load(words + j * kLanes);
    const __m256i above = _mm256_maddubs_epi16(most, _mm256_max_epi8(w, zero));
    const __m256i below = _mm256_maddubs_epi16(most, _mm256_min_epi8(w, zero));
    large = _mm256_or_si256(large, _mm256_cmpeq_epi16(above, _mm256_set1_epi16(INT16_MAX)));
    large = _mm256_or_si256(large, _mm256_cmpeq_epi16(below, _mm256_set1_epi16(INT16_MIN)));
  }
  return _mm256_testz_si256(large, large) == 0;
}

// Halves are at most 64 either way, so that two of them times 255 fit.
void halve(int64_t words, int32_t* from, int32_t* rest) {
  auto *weights = reinterpret_cast<int8_t*>(from), *others = reinterpret_cast<int8_t*>(rest);
  for (int64_t i = 0; i < words * kPairsGroup; ++i) {
    const auto half = static_cast<int8_t>(weights[i] / 2);
    others[i] = static_cast<int8_t>(weights[i] - half);
    weights[i] = half;
  }
}

bool spread_large(int vectors, int64_t groups, int32_t* panel) {
  const int64_t width = int64_t{vectors} * kLanes, spare = GemmInt8Kernels::spare_groups(groups);
  int32_t *rest = panel + groups * width, *table = rest + spare * width, count = 0;
  const int64_t behind = (spare + GemmInt8Kernels::table_groups(groups, kLanes)) * width;
  __builtin_memset(rest, 0, static_cast<size_t>(behind) * sizeof(int32_t));
  for (int64_t g = 0; g < groups; ++g) {
    if (!has_large_pairs(vectors, panel + g * width)) continue;
    if (count == spare) return false;
    halve(width, panel + g * width, rest + count * width);
    table[1 + count++] = static_cast<int32_t>(g);
  }
  table[0] = count;
  return true;
}

// Groups that have large pairs, kLanes at a time, then one by one; spread as above.
bool spread_large_words(int64_t groups, int32_t* row) {
  const int64_t spare = GemmInt8Kernels::spare_words(groups);
  int32_t* other = row - 1;
  for (int64_t first = 0; first < groups; first += kLanes) {
    const int64_t count = least(kLanes, groups - first);
    int32_t words[kLanes] = {};
    __builtin_memcpy(words, row + first, static_cast<size_t>(count) * sizeof(int32_t));
    if (!has_large_pairs(1, words)) continue;
    for (int64_t i = 0; i < count; ++i) {
      const int32_t word[kLanes] = {words[i]};
      if (!has_large_pairs(1, word)) continue;
      if (row[-1] == spare) return false;
      *--other = static_cast<int32_t>(first + i);
      halve(1, row + first + i, --other);
      ++row[-1];
    }
  }
  return true;
}

#endif

}  // namespace
}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
