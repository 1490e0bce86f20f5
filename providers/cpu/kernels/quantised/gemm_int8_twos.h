// Register tiles of products of two rows by two columns at once, eight elements of k each (SMMLA). Included as vec.h
// is.
#pragma once

#include "cpu/kernels/quantised/gemm_int8_kernels.h"
#include "cpu/kernels/vectors/isa_level.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

// Sums of two rows: 2 x 2 a vector, two vectors for kLanes columns.
template <int NV>
struct SumsOfTwo {
  int32x4_t at[2 * NV];
};

template <int NV>
ORTOLAN_INLINE SumsOfTwo<NV> begin_two(const Int8Block& g) {
  SumsOfTwo<NV> sums = {};
  if (g.start == nullptr) return sums;
#pragma GCC unroll 2
  for (int j = 0; j < NV; ++j) {
    const auto* start = reinterpret_cast<const float*>(g.start) + j * kLanes;
    const auto columns = (int64x2_t)load_columns(start, g.columns - j * kLanes);
    sums.at[2 * j] = (int32x4_t)vdupq_laneq_s64(columns, 0);
    sums.at[2 * j + 1] = (int32x4_t)vdupq_laneq_s64(columns, 1);
  }
  return sums;
}

// GCC moves the sums of the intrinsic from register to register in long loops.
ORTOLAN_INLINE void add_products(int32x4_t& sum, int8x16_t rows, int8x16_t columns) {
  asm("smmla %0.4s, %1.16b, %2.16b" : "+w"(sum) : "w"(rows), "w"(columns));
}

// Two groups of columns times the rows' bytes of one eight of k. A lies `at` the twos of rows.
template <int kTwos, int NV>
ORTOLAN_INLINE void add_eight(const uint8_t* const (&at)[kTwos], int64_t eight, const int32_t* b,
                              SumsOfTwo<NV> (&sum)[kTwos]) {
  int8x16_t columns[2 * NV];
#pragma GCC unroll 4
  for (int j = 0; j < 2 * NV; ++j) columns[j] = (int8x16_t)load(b + j * kLanes);
#pragma GCC unroll 4
  for (int i = 0; i < kTwos; ++i) {
    const int8x16_t rows = vld1q_s8(reinterpret_cast<const int8_t*>(at[i] + 16 * eight));
#pragma GCC unroll 4
    for (int j = 0; j < 2 * NV; ++j) add_products(sum[i].at[j], rows, columns[j]);
  }
}

template <int kTwos, int NV>
ORTOLAN_INLINE void add_twos(const Int8Block& g, int64_t count, const uint8_t* a, const int32_t* b,
                             SumsOfTwo<NV> (&sum)[kTwos]) {
  constexpr int kEights = 4, kStep = 2 * NV * kLanes;
  const int64_t step = 4 * g.a_step, many = step == 16 ? count / (2 * kEights) : 0;
  const uint8_t* at[kTwos];
#pragma GCC unroll 4
  for (int i = 0; i < kTwos; ++i) at[i] = a + i * 2 * g.a_stride;
  for (int64_t n = many; n > 0; --n) {
#pragma GCC unroll 4
    for (int e = 0; e < kEights; ++e, b += kStep) {
      if (e % 2 == 0) __builtin_prefetch(b + 4 * kStep, 0, 3);
      add_eight(at, e, b, sum);
    }
#pragma GCC unroll 4
    for (int i = 0; i < kTwos; ++i) at[i] += 16 * kEights;
  }
  for (int64_t k = many * 2 * kEights; k < count; k += 2, b += kStep) {
    add_eight(at, 0, b, sum);
#pragma GCC unroll 4
    for (int i = 0; i < kTwos; ++i) at[i] += step;
  }
}

template <int MR, int NV>
void tile_of_twos(const Int8Block& g, int64_t row, FetchAhead ahead) {
  constexpr int kTwos = (MR + 1) / 2;
  SumsOfTwo<NV> sum[kTwos];
  sum[0] = begin_two<NV>(g);
#pragma GCC unroll 4
  for (int i = 1; i < kTwos; ++i) sum[i] = sum[0];
  const uint8_t* a = g.a + row * g.a_stride;
  const int32_t* b = g.b;
  for (int64_t k = 0; k < g.groups; k += FetchAhead::kEvery) {
    ahead.turn();
    const int64_t count = least(FetchAhead::kEvery, g.groups - k);
    add_twos(g, count, a, b, sum);
    a += 2 * count * g.a_step;
    b += count * NV * kLanes;
  }
  Vi rows[MR][NV];
#pragma GCC unroll 8
  for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < NV; ++j) {
      const auto left = (int64x2_t)sum[i / 2].at[2 * j], right = (int64x2_t)sum[i / 2].at[2 * j + 1];
      rows[i][j] = (Vi)(i % 2 == 0 ? vzip1q_s64(left, right) : vzip2q_s64(left, right));
    }
  }
  store_tile(g, row, rows);
}

template <int NV, int MR>
ORTOLAN_INLINE void tile_of_rows(int64_t rows, const Int8Block& g, int64_t row, FetchAhead ahead) {
  if (rows == MR) return tile_of_twos<MR, NV>(g, row, ahead);
  if constexpr (MR > 1) tile_of_rows<NV, MR - 1>(rows, g, row, ahead);
}

template <int NV>
void block_of_twos(const Int8Block& g) {
  const int64_t twos = (g.rows + 1) / 2, tiles = (g.rows + kInt8TileRows - 1) / kInt8TileRows;
  for (int64_t i = 0; i < tiles; ++i) {
    const int64_t row = 2 * (twos * i / tiles), end = least(2 * (twos * (i + 1) / tiles), g.rows);
    tile_of_rows<NV, kInt8TileRows>(end - row, g, row, FetchAhead(g, i, tiles));
  }
}

void any_block_of_twos(int vectors, const Int8Block& g) { vectors == 1 ? block_of_twos<1>(g) : block_of_twos<2>(g); }

// Two groups of kLanes columns become two vectors, of two columns each.
void pair_columns(int vectors, int64_t groups, int32_t* panel) {
  const int64_t width = int64_t{vectors} * kLanes;
  for (int64_t k = 0; k < groups; k += 2, panel += 2 * width) {
    int32x4_t even[kInt8Vectors], odd[kInt8Vectors];
    for (int j = 0; j < vectors; ++j) {
      even[j] = vld1q_s32(panel + j * kLanes);
      odd[j] = vld1q_s32(panel + width + j * kLanes);
    }
    for (int j = 0; j < vectors; ++j) {
      vst1q_s32(panel + 2 * j * kLanes, vzip1q_s32(even[j], odd[j]));
      vst1q_s32(panel + (2 * j + 1) * kLanes, vzip2q_s32(even[j], odd[j]));
    }
  }
}

}  // namespace
}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
