// Register tiles of integer products for one instruction set. Included as vec.h is.
#pragma once

#include "cpu/kernels/quantised/gemm_int8_finish.h"
#include "cpu/kernels/quantised/gemm_int8_pack_body.h"
#include "cpu/kernels/quantised/gemm_int8_pairs.h"
#include "cpu/kernels/vectors/isa_level.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

constexpr int kLineWords = 16;  // of a cache line
constexpr int kInt8Vectors = kLanes == 16 ? 3 : 2;
#if defined(__ARM_FEATURE_DOTPROD)
constexpr int kInt8TileRows = 8;
constexpr bool kSignedLeft = true;
#else
constexpr int kInt8TileRows = kLanes == 16 ? 8 : kLanes == 8 ? 6 : 4;
constexpr bool kSignedLeft = false;
#endif

ORTOLAN_INLINE Vi broadcast_group(const uint8_t* p) {
  int32_t word;
  __builtin_memcpy(&word, p, 4);
  return set1i(word);
}

// The sums of a tile as they begin. Columns past the last are never stored, so what they begin with does not matter.
template <int NV>
ORTOLAN_INLINE void begin_sums(const Int8Block& g, Vi* first) {
#pragma GCC unroll 3
  for (int j = 0; j < NV; ++j) {
    const auto* start = reinterpret_cast<const float*>(g.start);
    first[j] = start == nullptr ? Vi{} : bits(load_columns(start + j * kLanes, g.columns - j * kLanes));
  }
}

template <int MR, int NV>
ORTOLAN_INLINE void store_tile(const Int8Block& g, int64_t row, const Vi (&sum)[MR][NV]) {
#pragma GCC unroll 3
  for (int j = 0; j < NV; ++j) {
    const int64_t column = j * kLanes, columns = g.columns - column;
    float* c = as_floats(g.c) + row * g.ldc + column;
    if (g.scale == nullptr) {
#pragma GCC unroll 8
      for (int i = 0; i < MR; ++i) store_columns(c + i * g.ldc, columns, from_bits(sum[i][j]));
      continue;
    }
    const Vf scale = load_columns(g.scale + column, columns), bias = bias_of(g, column);
#pragma GCC unroll 8
    for (int i = 0; i < MR; ++i) {
      store_columns(c + i * g.ldc, columns, finished(g, sum[i][j], scale, bias, row + i, column));
    }
  }
}

// Fetches what is read after a block a little at a time, spread over the block's work.
struct FetchAhead {
  static constexpr int64_t kEvery = 16;  // groups
  static constexpr int64_t kLine = 64, kMostLines = 8;
  const char* at;
  const char* end;
  int64_t step;

  FetchAhead(const Int8Block& g, int64_t tile, int64_t tiles)
      : at(static_cast<const char*>(g.next)), end(at + g.next_bytes), step(0) {
    const int64_t turns = (g.groups + kEvery - 1) / kEvery;
    if (turns == 0) return;
    const int64_t lines = (g.next_bytes + kLine * turns * tiles - 1) / (kLine * turns * tiles);
    step = kLine * least(lines, kMostLines);
    at += tile * turns * step;
  }
  void turn() {
    for (const char* last = at + step; at < last; at += kLine) {
      if (at < end) __builtin_prefetch(at, 0, 2);
    }
  }
};

// How a group's products are added, and whether panels have spare groups or rows of A spare words.
struct AnyGroups {
  static constexpr bool kSpareGroups = false, kSpareWords = false;
  static constexpr int kRun = 1, kRows = kInt8TileRows;
  __attribute__((always_inline)) static Vi add(Vi sum, Vi a, Vi b) { return dot(sum, a, b); }
};

#if defined(__aarch64__) && !defined(__ARM_FEATURE_DOTPROD)
// Sums of the elements of each group stay apart, two vectors for one of B, until all are there.
template <class Dot, int MR, int NV>
ORTOLAN_INLINE void add_groups(const Int8Block& g, int64_t count, const uint8_t* a, const int32_t* b,
                               Vi (&sum)[MR][NV]) {
  int32x4_t apart[MR][2 * NV] = {};
  for (int64_t k = 0; k < count; ++k, a += g.a_step, b += NV * kLanes) {
    int16x8_t bv[NV];
#pragma GCC unroll 3
    for (int j = 0; j < NV; ++j) bv[j] = (int16x8_t)load(b + j * kLanes);
    __builtin_prefetch(b + 8 * NV * kLanes, 0, 3);
#pragma GCC unroll 8
    for (int i = 0; i < MR; ++i) {
      const auto x = (int16x8_t)broadcast_group(a + i * g.a_stride);
#pragma GCC unroll 3
      for (int j = 0; j < NV; ++j) {
        apart[i][2 * j] = vmlal_s16(apart[i][2 * j], vget_low_s16(x), vget_low_s16(bv[j]));
        apart[i][2 * j + 1] = vmlal_high_s16(apart[i][2 * j + 1], x, bv[j]);
      }
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 3
    for (int j = 0; j < NV; ++j) sum[i][j] += (Vi)vpaddq_s32(apart[i][2 * j], apart[i][2 * j + 1]);
  }
}
#else
template <class Dot, int MR, int NV>
ORTOLAN_INLINE void add_groups(const Int8Block& g, int64_t count, const uint8_t* a, const int32_t* b,
                               Vi (&sum)[MR][NV]) {
#pragma GCC unroll 2
  for (int64_t k = 0; k < count; ++k, a += g.a_step, b += NV * kLanes) {
    Vi bv[NV];
#pragma GCC unroll 3
    for (int j = 0; j < NV; ++j) {
      bv[j] = load(b + j * kLanes);
      if (j * kLanes % kLineWords == 0) __builtin_prefetch(b + (8 * NV + j) * kLanes, 0, 3);
    }
#pragma GCC unroll 8
    for (int i = 0; i < MR; ++i) {
      const Vi x = broadcast_group(a + i * g.a_stride);
#pragma GCC unroll 3
      for (int j = 0; j < NV; ++j) sum[i][j] = Dot::add(sum[i][j], x, bv[j]);
    }
  }
}
#endif

#if defined(__ARM_FEATURE_DOTPROD)
constexpr int64_t kGroupsAtOnce = kLanes;  // of a row of A, whose groups lie side by side: the lanes of a vector

template <int kLane, int MR, int NV>
ORTOLAN_INLINE void add_lane(const int8x16_t (&a)[MR], const int32_t* b, Vi (&sum)[MR][NV]) {
#pragma GCC unroll 3
  for (int j = 0; j < NV; ++j) {
    const auto bv = (int8x16_t)load(b + (kLane * NV + j) * kLanes);
#pragma GCC unroll 8
    for (int i = 0; i < MR; ++i) sum[i][j] = (Vi)vdotq_laneq_s32((int32x4_t)sum[i][j], bv, a[i], kLane);
  }
}

// A multiple of kGroupsAtOnce.
template <int MR, int NV>
ORTOLAN_INLINE void add_many_groups(const Int8Block& g, int64_t count, const uint8_t* a, const int32_t* b,
                                    Vi (&sum)[MR][NV]) {
  for (int64_t k = 0; k < count; k += kGroupsAtOnce, a += 16, b += kGroupsAtOnce * NV * kLanes) {
    int8x16_t rows[MR];
#pragma GCC unroll 8
    for (int i = 0; i < MR; ++i) rows[i] = vld1q_s8(reinterpret_cast<const int8_t*>(a + i * g.a_stride));
    __builtin_prefetch(b + 8 * NV * kLanes, 0, 3);
    add_lane<0>(rows, b, sum);
    add_lane<1>(rows, b, sum);
    if constexpr (NV > 1) __builtin_prefetch(b + (8 + kGroupsAtOnce / 2) * NV * kLanes, 0, 3);
    add_lane<2>(rows, b, sum);
    add_lane<3>(rows, b, sum);
  }
}
#endif

// The same of whole runs of groups, whose products are added in 16 bits.
template <class Dot, int MR, int NV>
ORTOLAN_INLINE void add_runs(const Int8Block& g, int64_t count, const uint8_t* a, const int32_t* b, Vi (&sum)[MR][NV]) {
  constexpr int kRun = Dot::kRun;
  for (int64_t k = 0; k < count; k += kRun, a += kRun * g.a_step, b += kRun * NV * kLanes) {
    Vi bv[kRun * NV];
#pragma GCC unroll 6
    for (int j = 0; j < kRun * NV; ++j) {
      bv[j] = load(b + j * kLanes);
      if (j * kLanes % kLineWords == 0) __builtin_prefetch(b + (8 * NV + j) * kLanes, 0, 3);
    }
#pragma GCC unroll 8
    for (int i = 0; i < MR; ++i) {
      typename Dot::Pairs pairs[NV];
#pragma GCC unroll 2
      for (int r = 0; r < kRun; ++r) {
        const Vi x = broadcast_group(a + i * g.a_stride + r * g.a_step);
#pragma GCC unroll 3
        for (int j = 0; j < NV; ++j) {
          const auto more = Dot::pairs(x, bv[r * NV + j]);
          pairs[j] = r == 0 ? more : Dot::both(pairs[j], more);
        }
      }
#pragma GCC unroll 3
      for (int j = 0; j < NV; ++j) sum[i][j] = Dot::add_pairs(sum[i][j], pairs[j]);
    }
  }
}

// The table may come from a file: what it says leads to groups of this panel at worst.
template <class Dot, int MR, int NV>
ORTOLAN_INLINE void add_spare_groups(const Int8Block& g, const uint8_t* a, Vi (&sum)[MR][NV]) {
  const int64_t spare = GemmInt8Kernels::spare_groups(g.groups);
  const int32_t *words = g.b + g.groups * NV * kLanes, *table = words + spare * NV * kLanes;
  const int64_t count = least(table[0], spare);
  for (int64_t i = 0; i < count; ++i, words += NV * kLanes) {
    const auto group = static_cast<uint32_t>(table[1 + i]);
    add_groups<Dot>(g, 1, a + (group < g.groups ? group : 0) * g.a_step, words, sum);
  }
}

// Likewise.
template <class Dot, int MR, int NV>
ORTOLAN_INLINE void add_spare_words(const Int8Block& g, const uint8_t* a, Vi (&sum)[MR][NV]) {
#pragma GCC unroll 8
  for (int i = 0; i < MR; ++i) {
    const auto* row = reinterpret_cast<const int32_t*>(a + i * g.a_stride);
    const int64_t count = least(row[-1], GemmInt8Kernels::spare_words(g.groups));
    const int32_t* other = row - 1;
    for (int64_t n = 0; n < count; ++n) {
      const auto group = static_cast<uint32_t>(*--other);
      const int32_t* b = g.b + (group < g.groups ? group : 0) * NV * kLanes;
      const Vi word = set1i(*--other);
#pragma GCC unroll 3
      for (int j = 0; j < NV; ++j) sum[i][j] = Dot::add(sum[i][j], word, load(b + j * kLanes));
    }
  }
}

template <class Dot, int MR, int NV>
void tile(const Int8Block& g, int64_t row, FetchAhead ahead) {
  Vi sum[MR][NV];
  begin_sums<NV>(g, sum[0]);
#pragma GCC unroll 8
  for (int i = 1; i < MR; ++i) {
#pragma GCC unroll 3
    for (int j = 0; j < NV; ++j) sum[i][j] = sum[0][j];
  }
  const uint8_t* a = g.a + row * g.a_stride;
  const int32_t* b = g.b;
  for (int64_t k = 0; k < g.groups; k += FetchAhead::kEvery) {
    ahead.turn();
    const int64_t count = least(FetchAhead::kEvery, g.groups - k);
#if defined(__ARM_FEATURE_DOTPROD)
    const int64_t in_runs = g.a_step == 4 ? count - count % kGroupsAtOnce : 0;
    add_many_groups(g, in_runs, a, b, sum);
#else
    const int64_t in_runs = Dot::kRun == 1 ? 0 : count - count % Dot::kRun;
    if constexpr (Dot::kRun > 1) add_runs<Dot>(g, in_runs, a, b, sum);
#endif
    add_groups<Dot>(g, count - in_runs, a + in_runs * g.a_step, b + in_runs * NV * kLanes, sum);
    a += count * g.a_step;
    b += count * NV * kLanes;
  }
  if constexpr (Dot::kSpareGroups) add_spare_groups<Dot>(g, g.a + row * g.a_stride, sum);
  if constexpr (Dot::kSpareWords) add_spare_words<Dot>(g, g.a + row * g.a_stride, sum);
  store_tile(g, row, sum);
}

template <class Dot, int NV, int MR>
ORTOLAN_INLINE void tile_of(int64_t rows, const Int8Block& g, int64_t row, FetchAhead ahead) {
  if (rows == MR) return tile<Dot, MR, NV>(g, row, ahead);
  if constexpr (MR > 1) tile_of<Dot, NV, MR - 1>(rows, g, row, ahead);
}

template <class Dot, int NV>
void block(const Int8Block& g) {
  const int64_t tiles = (g.rows + Dot::kRows - 1) / Dot::kRows;
  for (int64_t i = 0; i < tiles; ++i) {
    const int64_t row = g.rows * i / tiles, end = g.rows * (i + 1) / tiles;
    tile_of<Dot, NV, Dot::kRows>(end - row, g, row, FetchAhead(g, i, tiles));
  }
}

template <class Dot>
void any_block(int vectors, const Int8Block& g) {
  if (vectors == 1) return block<Dot, 1>(g);
  if (vectors == 2) return block<Dot, 2>(g);
  if constexpr (kInt8Vectors == 3) block<Dot, 3>(g);
}

void to_floats(const Int8Block& g) {
  for (int64_t j = 0; j < g.columns; j += kLanes) {
    const Vf scale = load_columns(g.scale + j, g.columns - j), bias = bias_of(g, j);
    for (int64_t i = 0; i < g.rows; ++i) {
      float* c = as_floats(g.c) + i * g.ldc + j;
      const Vi sum = bits(load_columns(c, g.columns - j));
      store_columns(c, g.columns - j, finished(g, sum, scale, bias, i, j));
    }
  }
}

void correct_row(int32_t* c, int64_t columns, int32_t a_zero, const int32_t* adjusted, int32_t row_sum,
                 const int32_t* b_zero) {
  for (int64_t j = 0; j < columns; ++j) {
    const uint32_t less = static_cast<uint32_t>(a_zero) * static_cast<uint32_t>(adjusted[j]) +
                          static_cast<uint32_t>(row_sum) * static_cast<uint32_t>(b_zero[j]);
    c[j] = static_cast<int32_t>(static_cast<uint32_t>(c[j]) - less);
  }
}

}  // namespace
}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA

#if defined(__ARM_FEATURE_MATMUL_INT8)
#include "cpu/kernels/quantised/gemm_int8_twos.h"
#endif

namespace ortolan::cpu::kernels::ORTOLAN_ISA {

#if defined(__AVX2__) && !defined(__AVX512F__) && !defined(__AVXVNNI__)
template <template <int> class Pairs, int kRun>
constexpr GemmInt8Kernels kOfPairs = {.isa = kLevel,
                                      .lanes = kLanes,
                                      .max_vectors = kInt8Vectors,
                                      .tile_rows = Pairs<kRun>::kRows,
                                      .group = kPairsGroup,
                                      .block = any_block<Pairs<kRun>>,
                                      .to_floats = to_floats,
                                      .pack_group = pack_words<Pairs<kRun>::kSpareGroups>,
                                      .pack_rows = pack_rows_of_words<Pairs<kRun>::kSpareGroups>,
                                      .widen_row = nullptr,
                                      .correct_row = correct_row,
                                      .spread_large = Pairs<kRun>::kSpareGroups ? spread_large<kRun> : nullptr,
                                      .spread_row = Pairs<kRun>::kSpareWords ? spread_large_words<kRun> : nullptr,
                                      .simpler = kRun == 2 ? &kOfPairs<Pairs, 1> : nullptr};
constexpr const GemmInt8Kernels *kOfWeights = &kOfPairs<PairsOfBytes, 2>, *kOfRows = &kOfPairs<PairsOfWeights, 2>;
#else
constexpr const GemmInt8Kernels *kOfWeights = nullptr, *kOfRows = nullptr;
#endif

#if defined(__ARM_FEATURE_MATMUL_INT8)
constexpr auto block_of_any = any_block_of_twos;
constexpr auto pair_any_columns = pair_columns;
constexpr int64_t kFilled = 2;
#else
constexpr auto block_of_any = any_block<AnyGroups>;
constexpr auto pair_any_columns = nullptr;
constexpr int64_t kFilled = 1;
#endif

extern const GemmInt8Kernels kGemmInt8;
const GemmInt8Kernels kGemmInt8 = {.isa = kLevel,
                                   .lanes = kLanes,
                                   .max_vectors = kInt8Vectors,
                                   .tile_rows = kInt8TileRows,
                                   .group = kGroup,
                                   .block = block_of_any,
                                   .to_floats = to_floats,
                                   .pack_group = pack_group,
                                   .pack_rows = pack_rows,
                                   .widen_row = widen_row,
                                   .correct_row = correct_row,
                                   .of_weights = kOfWeights,
                                   .of_rows = kOfRows,
                                   .signed_left = kSignedLeft,
                                   .pair_columns = pair_any_columns,
                                   .filled = kFilled};

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
