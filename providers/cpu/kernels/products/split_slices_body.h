// Splits fp32 rows and columns into tiles of bfloat16 slices. Included as vec.h is, by files *_amx.cc only.
#pragma once

#include <cstdint>

#include "cpu/kernels/products/split_f32_kernels.h"
#include "cpu/kernels/products/split_range.h"
#include "cpu/kernels/vectors/tile_ops.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

constexpr int64_t kSliceBytes = 2 * kTileBytes;
constexpr int32_t kUpperHalf = static_cast<int32_t>(0xffff0000);

ORTOLAN_INLINE __mmask16 lanes_up_to(int64_t n) { return n <= 0 ? 0 : n >= kLanes ? 0xffff : first_lanes(n); }
ORTOLAN_INLINE Vf load_lanes(const float* p, __mmask16 lanes) { return (Vf)_mm512_maskz_loadu_ps(lanes, p); }
ORTOLAN_INLINE void prefetch(const void* p) { __builtin_prefetch(p, 0, 3); }

// x to 8 bits, halves away from zero. Close to the largest float that is infinity.
ORTOLAN_INLINE Vf upper_half(Vf x) { return from_bits((bits(x) + 0x8000) & kUpperHalf); }

// How elements are changed before they are split. Inf and NaN then are a high slice whose other slices are zero.
struct AsTheyAre {
  static constexpr bool kFirst = true;  // maxima are not known yet
  ORTOLAN_INLINE Vf scale(Vf x, Vf) { return x; }
  ORTOLAN_INLINE Vf high(Vf x) { return upper_half(x); }
  ORTOLAN_INLINE Vf rest(Vf x, Vf high) { return x - high; }
};
struct Scaled {
  static constexpr bool kFirst = false;
  ORTOLAN_INLINE __mmask16 ordinary(Vf x) { return ~_mm512_fpclass_ps_mask((__m512)x, 0x99); }
  ORTOLAN_INLINE Vf scale(Vf x, Vf exponent) { return scale2(x, exponent); }
  ORTOLAN_INLINE Vf high(Vf x) {
    const Vf doubled = from_bits(bits(x + x) & kUpperHalf);
    return (Vf)_mm512_mask_mov_ps((__m512)doubled, ordinary(x), (__m512)upper_half(x));
  }
  ORTOLAN_INLINE Vf rest(Vf x, Vf high) { return (Vf)_mm512_maskz_sub_ps(ordinary(x), (__m512)x, (__m512)high); }
};

// Rows: two vectors that follow each other along k become 32 values in a tile's row.
struct AlongRow {
  ORTOLAN_INLINE __m512i rounded(Vf a, Vf b) { return (__m512i)_mm512_cvtne2ps_pbh((__m512)b, (__m512)a); }
  ORTOLAN_INLINE __m512i exact(Vf a, Vf b) { return rounded(a, b); }
};
// Columns: two vectors of the same columns become pairs of values in a tile's row.
struct InPairs {
  ORTOLAN_INLINE __m512i rounded(Vf a, Vf b) {
    const Vi lane = (Vi)_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm512_permutexvar_epi16((__m512i)(lane | (lane + kLanes) << 16), AlongRow::rounded(a, b));
  }
  ORTOLAN_INLINE __m512i exact(Vf a, Vf b) {
    return _mm512_or_si512(_mm512_srli_epi32((__m512i)a, 16),
                           _mm512_and_si512((__m512i)b, _mm512_set1_epi32(kUpperHalf)));
  }
};

// The slices of two vectors, each to its place, but for those that are not kept, since they are zero. The third is
// exact, as 24 bits are three times 8.
template <int kSlices, class Change, class Layout, int kKept = kSlices>
ORTOLAN_INLINE void store_slices(Vf a, Vf b, char* to) {
  if constexpr (kSlices == 1) {
    _mm512_store_si512(to, Layout::rounded(a, b));
  } else {
    const Vf high_a = Change::high(a), high_b = Change::high(b);
    const Vf rest_a = Change::rest(a, high_a), rest_b = Change::rest(b, high_b);
    _mm512_store_si512(to, Layout::exact(high_a, high_b));
    if constexpr (kKept > 1 && kSlices == 2) {
      _mm512_store_si512(to + kSliceBytes, Layout::rounded(rest_a, rest_b));
    } else if constexpr (kKept > 1) {
      const Vf middle_a = upper_half(rest_a), middle_b = upper_half(rest_b);
      _mm512_store_si512(to + kSliceBytes, Layout::exact(middle_a, middle_b));
      if constexpr (kKept == 3) {
        _mm512_store_si512(to + 2 * kSliceBytes, Layout::exact(rest_a - middle_a, rest_b - middle_b));
      }
    }
  }
}

ORTOLAN_INLINE Vi larger_magnitude(Vi largest, Vf x) {
  return (Vi)_mm512_max_epu32((__m512i)largest, (__m512i)bits(vabs(x)));
}

template <int kSlices, class Change>
void split_row_tiles(const RowSource& s, const float* exponents, char* tiles, Vi* maxima) {
  for (int64_t k = 0; k < s.k; k += kSplitStep, tiles += kSlices * kSliceBytes) {
    const __mmask16 first = lanes_up_to(s.k - k), second = lanes_up_to(s.k - k - kLanes);
    const float* row = s.data + k;
    for (int64_t r = 0; r < s.rows; ++r, row += s.stride) {
      prefetch(row + 2 * kSplitStep);
      prefetch(row + 2 * kSplitStep + kLanes);
      Vf a = load_lanes(row, first), b = load_lanes(row + kLanes, second);
      if constexpr (Change::kFirst) {
        maxima[r] = larger_magnitude(larger_magnitude(maxima[r], a), b);
      } else {
        a = Change::scale(a, set1(exponents[r]));
        b = Change::scale(b, set1(exponents[r]));
      }
      store_slices<kSlices, Change, AlongRow>(a, b, tiles + r * kTileRowBytes);
    }
  }
}

template <int kSlices>
void split_rows_into(const RowSource& source, char* tiles, SplitRange& range) {
  Vi largest[kSplitRows] = {};
  split_row_tiles<kSlices, AsTheyAre>(source, nullptr, tiles, largest);
  uint32_t maxima[kSplitRows];
  bool inside = true;
  for (int i = 0; i < kSplitRows; ++i) {
    maxima[i] = _mm512_reduce_max_epu32((__m512i)largest[i]);
    inside = inside && in_range(maxima[i]);
  }
  set_range(maxima, range);
  if (!inside) split_row_tiles<kSlices, Scaled>(source, range.exponents, tiles, nullptr);
}

[[maybe_unused]] void split_rows(int slices, const RowSource& source, void* tiles, SplitRange* range) {
  char* to = static_cast<char*>(tiles);
  if (slices == 1) return split_rows_into<1>(source, to, *range);
  if (slices == 2) return split_rows_into<2>(source, to, *range);
  split_rows_into<3>(source, to, *range);
}

// Lanes of a row of columns that hold elements of that kind.
template <PackedElement kElement>
ORTOLAN_INLINE Vf load_elements(const char* p, __mmask16 lanes) {
  if constexpr (kElement == PackedElement::kFloat) {
    return load_lanes(reinterpret_cast<const float*>(p), lanes);
  } else {
    const __m256i shorts = _mm256_maskz_loadu_epi16(lanes, p);
    if constexpr (kElement == PackedElement::kHalf) return (Vf)_mm512_cvtph_ps(shorts);
    return (Vf)_mm512_slli_epi32(_mm512_cvtepu16_epi32(shorts), 16);
  }
}

// The pairs of rows of one half of a k-step.
template <int kSlices, class Change, PackedElement kElement>
ORTOLAN_INLINE void split_half(const ColumnSource& s, int64_t step, int half, const float* exponents, char* tiles,
                               Vi (&maxima)[2]) {
  const __mmask16 lanes = lanes_up_to(s.columns - half * kLanes);
  constexpr int kKept = slices_kept(kElement, kSlices);
  constexpr int64_t kElementBytes = kElement == PackedElement::kFloat ? 4 : 2;
  const int64_t stride = s.step[half] * kElementBytes;
  char* to = tiles + step * kKept * kSliceBytes + half * kTileBytes;
  for (int64_t pair = 0; pair < kTileHeight; ++pair, to += kTileRowBytes) {
    const int64_t k = step * kSplitStep + 2 * pair;
    const char* row = static_cast<const char*>(s.half[half]) + k * stride;
    prefetch(row + kSplitStep * stride);
    prefetch(row + (kSplitStep + 1) * stride);
    Vf a = {}, b = {};
    if (k < s.k) a = load_elements<kElement>(row, lanes);
    if (k + 1 < s.k) b = load_elements<kElement>(row + stride, lanes);
    if constexpr (Change::kFirst) {
      maxima[half] = larger_magnitude(larger_magnitude(maxima[half], a), b);
    } else {
      const Vf scale = load(exponents + half * kLanes);
      a = Change::scale(a, scale);
      b = Change::scale(b, scale);
    }
    store_slices<kSlices, Change, InPairs, kKept>(a, b, to);
  }
}

template <int kSlices, class Change, PackedElement kElement>
void split_halves(const ColumnSource& s, const float* exponents, char* tiles, Vi (&maxima)[2]) {
  for (int64_t step = 0; step < split_steps(s.k); ++step) {
    split_half<kSlices, Change, kElement>(s, step, 0, exponents, tiles, maxima);
    if (s.columns > kLanes) split_half<kSlices, Change, kElement>(s, step, 1, exponents, tiles, maxima);
  }
}

template <int kSlices, PackedElement kElement>
void split_columns_into(const ColumnSource& source, char* tiles, SplitRange& range) {
  Vi largest[2] = {};
  split_halves<kSlices, AsTheyAre, kElement>(source, nullptr, tiles, largest);
  uint32_t maxima[kSplitColumns];
  __builtin_memcpy(maxima, largest, sizeof maxima);
  set_range(maxima, range);
  if (range.scaled) split_halves<kSlices, Scaled, kElement>(source, range.exponents, tiles, largest);
}

template <PackedElement kElement>
void split_columns_of(int slices, const ColumnSource& source, char* tiles, SplitRange& range) {
  if (slices == 1) return split_columns_into<1, kElement>(source, tiles, range);
  if (slices == 2) return split_columns_into<2, kElement>(source, tiles, range);
  split_columns_into<3, kElement>(source, tiles, range);
}

[[maybe_unused]] void split_columns(int slices, const ColumnSource& source, void* tiles, SplitRange* range) {
  constexpr auto kBfloat16 = PackedElement::kBfloat16, kHalf = PackedElement::kHalf;
  char* to = static_cast<char*>(tiles);
  if (source.element == kBfloat16) return split_columns_of<kBfloat16>(slices, source, to, *range);
  if (source.element == kHalf) return split_columns_of<kHalf>(slices, source, to, *range);
  split_columns_of<PackedElement::kFloat>(slices, source, to, *range);
}

}  // namespace
}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
