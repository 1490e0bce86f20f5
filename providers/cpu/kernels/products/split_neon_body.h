// fp32 products by one product of bfloat16 for each two elements, by the matrix instruction of arm64, which adds two
// rows times two columns over four k. Included as vec.h is, where the compiler has that instruction.
#pragma once

#include <cstdint>

#include "cpu/kernels/products/split_f32_kernels.h"
#include "cpu/kernels/products/split_range.h"
#include "cpu/kernels/vectors/vec.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

// Tiles lie chunk of k after chunk; in them vectors of two rows (columns), each with the k of a chunk.
constexpr int64_t kChunk = 4, kChunkBytes = 256, kPairBytes = 16;
constexpr int64_t kTilePairs = 4;  // of rows, and of columns, whose sums are in registers

typedef uint32_t Vu __attribute__((vector_size(16)));

ORTOLAN_INLINE Vu larger_magnitude(Vu largest, Vf x) {
  const Vu magnitude = (Vu)x & 0x7fffffff;
  return magnitude > largest ? magnitude : largest;
}

ORTOLAN_INLINE void store_pair(char* to, Vf first, Vf second) {
  const bfloat16x8_t low = vcvtq_low_bf16_f32((float32x4_t)first);
  vst1q_bf16(reinterpret_cast<bfloat16_t*>(to), vcvtq_high_bf16_f32(low, (float32x4_t)second));
}

int64_t chunks_of(int64_t k) { return split_steps(k) * (kSplitStep / kChunk); }

// Two rows; the second may be the first once more, where there is none.
template <bool kScaled>
void split_two_rows(const float* first, const float* second, int64_t k, const float* exponents, char* to, Vu* maxima) {
  const auto split = [&](int64_t at, int64_t n, char* to) __attribute__((always_inline)) {
    Vf a = load_n(first + at, n), b = load_n(second + at, n);
    if constexpr (kScaled) {
      a = scale2(a, set1(exponents[0]));
      b = scale2(b, set1(exponents[1]));
    } else {
      maxima[0] = larger_magnitude(maxima[0], a);
      maxima[1] = larger_magnitude(maxima[1], b);
    }
    store_pair(to, a, b);
  };
  int64_t at = 0;
  for (; at + kChunk <= k; at += kChunk, to += kChunkBytes) split(at, kChunk, to);
  for (const int64_t end = chunks_of(k) * kChunk; at < end; at += kChunk, to += kChunkBytes) {
    split(least(at, k), most(k - at, 0), to);
  }
}

uint32_t largest_of(Vu maxima) { return vmaxvq_u32((uint32x4_t)maxima); }

template <bool kScaled>
void split_all_rows(const RowSource& s, const float* exponents, char* tiles, Vu* maxima) {
  for (int64_t row = 0; row < s.rows; row += 2, tiles += kPairBytes) {
    const float* first = s.data + row * s.stride;
    split_two_rows<kScaled>(first, row + 1 < s.rows ? first + s.stride : first, s.k, exponents + row, tiles,
                            maxima + row);
  }
}

void split_rows(int, const RowSource& source, void* tiles, SplitRange* range) {
  Vu largest[kSplitRows] = {};
  uint32_t maxima[kSplitRows] = {};
  constexpr float kNone[kSplitRows] = {};
  split_all_rows<false>(source, kNone, static_cast<char*>(tiles), largest);
  for (int64_t i = 0; i < source.rows; ++i) maxima[i] = largest_of(largest[i]);
  set_range(maxima, *range);
  if (range->scaled) split_all_rows<true>(source, range->exponents, static_cast<char*>(tiles), largest);
}

// n of four elements.
template <PackedElement kElement>
ORTOLAN_INLINE Vf load_elements(const char* p, int64_t n) {
  if constexpr (kElement == PackedElement::kFloat) {
    return load_n(reinterpret_cast<const float*>(p), n);
  } else {
    uint16_t shorts[4] = {};
    if (n >= 4) {
      __builtin_memcpy(shorts, p, sizeof shorts);
    } else {
      for (int64_t i = 0; i < n; ++i) __builtin_memcpy(&shorts[i], p + 2 * i, 2);
    }
    const uint16x4_t four = vld1_u16(shorts);
    if constexpr (kElement == PackedElement::kHalf) return (Vf)vcvt_f32_f16(vreinterpret_f16_u16(four));
    return (Vf)vshlq_n_u32(vmovl_u16(four), 16);
  }
}

// Four columns, whose elements of four rows become their vectors.
ORTOLAN_INLINE void transpose(Vf (&v)[4]) {
  const float32x4x2_t even = vtrnq_f32((float32x4_t)v[0], (float32x4_t)v[1]);
  const float32x4x2_t odd = vtrnq_f32((float32x4_t)v[2], (float32x4_t)v[3]);
  for (int i = 0; i < 2; ++i) {
    v[i] = (Vf)vcombine_f32(vget_low_f32(even.val[i]), vget_low_f32(odd.val[i]));
    v[i + 2] = (Vf)vcombine_f32(vget_high_f32(even.val[i]), vget_high_f32(odd.val[i]));
  }
}

template <bool kScaled, PackedElement kElement>
void split_four_columns(const char* from, int64_t stride, int64_t k, int64_t columns, const float* exponents, char* to,
                        Vu& maxima) {
  for (int64_t chunk = 0; chunk < chunks_of(k); ++chunk, to += kChunkBytes) {
    Vf rows[kChunk] = {};
    for (int64_t i = 0; i < kChunk && chunk * kChunk + i < k; ++i, from += stride) {
      rows[i] = load_elements<kElement>(from, columns);
      if constexpr (kScaled) {
        rows[i] = scale2(rows[i], load(exponents));
      } else {
        maxima = larger_magnitude(maxima, rows[i]);
      }
    }
    transpose(rows);
    store_pair(to, rows[0], rows[1]);
    store_pair(to + kPairBytes, rows[2], rows[3]);
  }
}

// Columns up to a multiple of those of a tile; missing ones are zero.
template <bool kScaled, PackedElement kElement>
void split_all_columns(const ColumnSource& s, const float* exponents, char* tiles, Vu* maxima) {
  constexpr int64_t kBytes = kElement == PackedElement::kFloat ? 4 : 2, kTileColumns = 2 * kTilePairs;
  const int64_t end = (s.columns + kTileColumns - 1) / kTileColumns * kTileColumns;
  for (int64_t column = 0; column < end; column += 4, tiles += 2 * kPairBytes) {
    const int64_t half = column / 16, there = least(4, s.columns - column);
    const bool in_fours = s.four[0] != nullptr;
    const void* source = in_fours ? s.four[column / 4] : s.half[half];
    const char* from = static_cast<const char*>(source) + (!in_fours && there > 0 ? column % 16 * kBytes : 0);
    const int64_t step = in_fours ? s.four_step[column / 4] : s.step[half];
    split_four_columns<kScaled, kElement>(from, there > 0 ? step * kBytes : 0, s.k, there, exponents + column, tiles,
                                          maxima[column / 4]);
  }
}

template <PackedElement kElement>
void split_columns_of(const ColumnSource& source, char* tiles, SplitRange& range) {
  Vu largest[kSplitColumns / 4] = {};
  uint32_t maxima[kSplitColumns];
  constexpr float kNone[kSplitColumns] = {};
  split_all_columns<false, kElement>(source, kNone, tiles, largest);
  __builtin_memcpy(maxima, largest, sizeof maxima);
  set_range(maxima, range);
  if (range.scaled) split_all_columns<true, kElement>(source, range.exponents, tiles, largest);
}

void split_columns(int, const ColumnSource& source, void* tiles, SplitRange* range) {
  char* to = static_cast<char*>(tiles);
  if (source.element == PackedElement::kBfloat16) return split_columns_of<PackedElement::kBfloat16>(source, to, *range);
  if (source.element == PackedElement::kHalf) return split_columns_of<PackedElement::kHalf>(source, to, *range);
  split_columns_of<PackedElement::kFloat>(source, to, *range);
}

ORTOLAN_INLINE bfloat16x8_t load_pair(const char* p) { return vld1q_bf16(reinterpret_cast<const bfloat16_t*>(p)); }

// The sums of eight rows and eight columns over all chunks, a multiple of four.
void multiply_tile(const char* a, const char* b, int64_t chunks, float* sums) {
  float32x4_t sum[kTilePairs][kTilePairs] = {};
  const auto add_chunk = [&](const char* rows, const char* columns) __attribute__((always_inline)) {
    bfloat16x8_t left[kTilePairs], right[kTilePairs];
#pragma GCC unroll 4
    for (int i = 0; i < kTilePairs; ++i) left[i] = load_pair(rows + i * kPairBytes);
#pragma GCC unroll 4
    for (int j = 0; j < kTilePairs; ++j) right[j] = load_pair(columns + j * kPairBytes);
#pragma GCC unroll 4
    for (int i = 0; i < kTilePairs; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < kTilePairs; ++j) sum[i][j] = vbfmmlaq_f32(sum[i][j], left[i], right[j]);
    }
  };
  for (const char* end = a + chunks * kChunkBytes; a != end; a += 4 * kChunkBytes, b += 4 * kChunkBytes) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      add_chunk(a + i * kChunkBytes, b + i * kChunkBytes);
      asm volatile("" ::: "memory");  // GCC would load chunks ahead, and copy sums for want of registers
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < kTilePairs; ++i, sums += 2 * kSplitColumns) {
#pragma GCC unroll 2
    for (int j = 0; j < kTilePairs; j += 2) {
      const float64x2_t first = vreinterpretq_f64_f32(sum[i][j]), second = vreinterpretq_f64_f32(sum[i][j + 1]);
      vst1q_f32(sums + 2 * j, vreinterpretq_f32_f64(vzip1q_f64(first, second)));
      vst1q_f32(sums + kSplitColumns + 2 * j, vreinterpretq_f32_f64(vzip2q_f64(first, second)));
    }
  }
}

void finish_row(const SplitSequence& q, int64_t row) {
  const GemmFinish& f = q.pending.finish;
  const bool stays = q.pending.activate != nullptr;
  float* sums = q.sums + row * kSplitColumns;
  float* c = f.c + row * f.ldc;
  const float* residual = f.residual == nullptr ? nullptr : f.residual + row * f.residual_stride;
  for (int64_t j = 0; j < f.columns; j += kLanes) {
    const int64_t n = f.columns - j;
    Vf x = load(sums + j);
    if (q.scaled) x = scale2(x, -set1(q.row_exponents[row]) - load(q.column_exponents + j));
    if (f.alpha != 1) x *= set1(f.alpha);
    if (f.c_scale != 0) x = fma(load_n(c + j, n), set1(f.c_scale), x);
    if (f.column_bias != nullptr) x += load_n(f.column_bias + j, n);
    if (f.row_bias != nullptr) x += set1(f.row_bias[row]);
    if (f.shift != 0) x += set1(f.shift);
    if (residual != nullptr) x += load_n(residual + j, n);
    if (f.clamp) x = vmin(set1(f.high), vmax(set1(f.low), x));
    stays ? store(sums + j, x) : store_n(c + j, n, x);
  }
}

void finish(SplitSequence& q) {
  const SplitBlock& block = q.pending;
  const GemmFinish& f = block.finish;
  for (; q.finished_rows < f.rows; ++q.finished_rows) {
    const int64_t row = q.finished_rows;
    finish_row(q, row);
    if (block.activate == nullptr) continue;
    block.activate(q.sums + row * kSplitColumns, f.c + row * f.ldc, f.columns, block.p0, block.p1);
  }
}

// Element k of a row or column of a block.
float element_of(const void* tiles, int64_t row, int64_t k) {
  uint16_t upper;
  const char* at = static_cast<const char*>(tiles) + k / kChunk * kChunkBytes + row / 2 * kPairBytes;
  __builtin_memcpy(&upper, at + row % 2 * (kPairBytes / 2) + k % kChunk * 2, sizeof upper);
  return __builtin_bit_cast(float, static_cast<uint32_t>(upper) << 16);
}

// Sums with Inf or NaN among their terms, in fp32 arithmetic: the instruction gives another NaN, and none of its own
// where terms are scaled.
__attribute__((noinline)) void replace_odd_sums(const SplitBlock& block, float* sums) {
  for (int64_t row = 0; row < block.finish.rows; ++row) {
    for (int64_t column = 0; column < block.finish.columns; ++column) {
      if (((block.a_range->odd >> row | block.b_range->odd >> column) & 1) == 0) continue;
      float sum = 0;
      for (int64_t k = 0; k < block.steps * kSplitStep; ++k) {
        sum = __builtin_fmaf(element_of(block.a, row, k), element_of(block.b, column, k), sum);
      }
      sums[row * kSplitColumns + column] = sum;
    }
  }
}

void multiply(SplitSequence& q, const SplitBlock& block) {
  finish(q);
  const auto* a = static_cast<const char*>(block.a);
  const auto* b = static_cast<const char*>(block.b);
  constexpr int64_t kTileSide = 2 * kTilePairs, kTileStart = kTilePairs * kPairBytes;
  for (int64_t row = 0; row < block.finish.rows; row += kTileSide) {
    for (int64_t column = 0; column < block.finish.columns; column += kTileSide) {
      multiply_tile(a + row / kTileSide * kTileStart, b + column / kTileSide * kTileStart,
                    block.steps * (kSplitStep / kChunk), q.sums + row * kSplitColumns + column);
    }
  }
  if ((block.a_range->odd | block.b_range->odd) != 0) replace_odd_sums(block, q.sums);
  set_pending(q, block);
}

void nothing() {}

}  // namespace

extern const SplitF32Kernels kSplitF32;
const SplitF32Kernels kSplitF32 = {
    nothing, nothing, split_rows, split_columns, multiply, finish, {"i8mm bf16", nullptr, nullptr}, kBfmmlaCosts};

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
