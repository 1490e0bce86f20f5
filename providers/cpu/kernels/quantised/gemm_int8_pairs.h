// Products of bytes that add neighbours' products in 16 bits, and packing of weights for them, with AVX2. Included as
// vec.h is.
#pragma once

#include "cpu/kernels/quantised/gemm_int8_kernels.h"
#include "cpu/kernels/quantised/gemm_int8_pack_body.h"
#include "cpu/kernels/vectors/isa_level.h"
#include "cpu/kernels/vectors/vec.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

#if defined(__AVX2__) && !defined(__AVX512F__) && !defined(__AVXVNNI__)

constexpr int kPairsGroup = 4;

// Products of groups of four bytes, those of A without a sign. Two neighbours' are added in 16 bits, and so are those
// of the kRun groups of a run.
template <int kGroups>
struct PairsOfBytes {
  static constexpr bool kSpareGroups = true, kSpareWords = false;
  static constexpr int kRun = kGroups, kRows = kRun == 1 ? 6 : 4;
  using Pairs = __m256i;  // sums of 16 bits
  __attribute__((always_inline)) static Pairs both(Pairs a, Pairs b) { return _mm256_add_epi16(a, b); }
  __attribute__((always_inline)) static Pairs pairs(Vi a, Vi b) { return _mm256_maddubs_epi16((__m256i)a, (__m256i)b); }
  __attribute__((always_inline)) static Vi add_pairs(Vi sum, Pairs pairs) {
    return sum + (Vi)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
  }
  __attribute__((always_inline)) static Vi add(Vi sum, Vi a, Vi b) { return add_pairs(sum, pairs(a, b)); }
};

// The same with the signs on the other side.
template <int kGroups>
struct PairsOfWeights : PairsOfBytes<kGroups> {
  static constexpr bool kSpareGroups = false, kSpareWords = true;
  __attribute__((always_inline)) static __m256i pairs(Vi a, Vi b) { return PairsOfBytes<kGroups>::pairs(b, a); }
  __attribute__((always_inline)) static Vi add(Vi sum, Vi a, Vi b) { return PairsOfBytes<kGroups>::add(sum, b, a); }
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
    const __m256i words = join_four(rows, c, masks);
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

// Whether, of kRun groups `step` words apart, products of neighbours with any bytes, 0 to 255, may exceed 16 bits
// together: those of weights of one sign, which are at most 128 in sum where they fit.
template <int kRun>
bool has_large(int vectors, const int32_t* words, int64_t step) {
  const __m256i zero = _mm256_setzero_si256(), ones = _mm256_set1_epi8(1);
  __m256i large = zero;
  for (int j = 0; j < vectors; ++j) {
    __m256i above = zero, below = zero;
    for (int r = 0; r < kRun; ++r) {
      const auto w = (__m256i)load(words + r * step + j * kLanes);
      above = _mm256_add_epi16(above, _mm256_maddubs_epi16(ones, _mm256_max_epi8(w, zero)));
      below = _mm256_add_epi16(below, _mm256_maddubs_epi16(ones, _mm256_min_epi8(w, zero)));
    }
    large = _mm256_or_si256(large, _mm256_cmpgt_epi16(above, _mm256_set1_epi16(128)));
    large = _mm256_or_si256(large, _mm256_cmpgt_epi16(_mm256_set1_epi16(-128), below));
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

// The groups of a panel and the spare ones behind them.
class SpareGroups {
 public:
  SpareGroups(int vectors, int64_t groups, int32_t* panel)
      : width_(int64_t{vectors} * kLanes),
        most_(GemmInt8Kernels::spare_groups(groups)),
        panel_(panel),
        rest_(panel + groups * width_),
        table_(rest_ + most_ * width_) {
    const int64_t behind = (most_ + GemmInt8Kernels::table_groups(groups, kLanes)) * width_;
    __builtin_memset(rest_, 0, static_cast<size_t>(behind) * sizeof(int32_t));
  }
  int64_t words() const { return width_; }
  int32_t* at(int64_t group) { return panel_ + group * width_; }
  /** Another one of that group; nullptr where there is none left. */
  int32_t* spare_of(int64_t group) {
    if (table_[0] == most_) return nullptr;
    int32_t* to = rest_ + table_[0]++ * width_;
    table_[table_[0]] = static_cast<int32_t>(group);
    return to;
  }

 private:
  int64_t width_, most_;
  int32_t *panel_, *rest_, *table_;
};

// The words of a row and the spare ones before it.
class SpareWords {
 public:
  SpareWords(int64_t groups, int32_t* row) : most_(GemmInt8Kernels::spare_words(groups)), row_(row) {}
  int64_t words() const { return 1; }
  int32_t* at(int64_t group) { return row_ + group; }
  int32_t* spare_of(int64_t group) {
    if (row_[-1] == most_) return nullptr;
    int32_t* to = row_ - 1 - 2 * ++row_[-1];
    to[1] = static_cast<int32_t>(group);
    return to;
  }

 private:
  int64_t most_;
  int32_t* row_;
};

// Parts words of a group between it and a spare one.
template <class Spare>
bool part(Spare& spare, int64_t group, int32_t* words) {
  int32_t* rest = spare.spare_of(group);
  if (rest != nullptr) halve(spare.words(), words, rest);
  return rest != nullptr;
}

// Moves all words of a group into a spare one, and parts them there where its own pairs are large.
template <class Spare>
bool move_away(Spare& spare, int64_t group, bool parts) {
  int32_t *from = spare.at(group), *to = spare.spare_of(group);
  if (to == nullptr) return false;
  const size_t bytes = static_cast<size_t>(spare.words()) * sizeof(int32_t);
  __builtin_memcpy(to, from, bytes);
  __builtin_memset(from, 0, bytes);
  return !parts || part(spare, group, to);
}

template <int kRun>
bool spread_large(int vectors, int64_t groups, int32_t* panel) {
  SpareGroups spare(vectors, groups, panel);
  const int64_t width = spare.words();
  for (int64_t g = 0; g < groups; g += kRun) {
    int32_t* words = spare.at(g);
    const bool run = kRun == 2 && g + 1 < groups && has_large<2>(vectors, words, width);
    if (run && !move_away(spare, g + 1, has_large<1>(vectors, words + width, 0))) return false;
    if (has_large<1>(vectors, words, 0) && !part(spare, g, words)) return false;
  }
  return true;
}

bool is_large(int32_t word) {
  const int32_t words[kLanes] = {word};
  return has_large<1>(1, words, 0);
}

// Looks at kLanes runs together, then at those that need it one by one.
template <int kRun>
bool spread_large_words(int64_t groups, int32_t* row) {
  SpareWords spare(groups, row);
  for (int64_t first = 0; first < groups; first += kRun * kLanes) {
    int32_t words[kRun][kLanes] = {};
    const int64_t count = least(kRun * kLanes, groups - first);
    for (int64_t i = 0; i < count; ++i) words[i % kRun][i / kRun] = row[first + i];
    if (!has_large<kRun>(1, words[0], kLanes)) continue;
    for (int64_t g = first; g < first + count; g += kRun) {
      const int32_t one[2][kLanes] = {{row[g]}, {g + 1 < groups ? row[g + 1] : 0}};
      const bool run = kRun == 2 && has_large<2>(1, one[0], kLanes) && g + 1 < groups;
      if (run && !move_away(spare, g + 1, is_large(row[g + 1]))) return false;
      if (is_large(row[g]) && !part(spare, g, row + g)) return false;
    }
  }
  return true;
}

#endif

}  // namespace
}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
