// Products with few columns of fp32 for one instruction set: rows of A lie along the vectors. Included as vec.h is.
#pragma once

#include "cpu/kernels/products/gemm_tile_body.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

constexpr int kThinColumns = kLanes / 4, kMostThinTiles = 4;
constexpr int kTileVectors = kTileRows > kLanes ? kTileRows / kLanes : 1;  // that hold a row tile at one k
constexpr int kHeld = kLanes > kTileRows ? kLanes / kTileRows : 1;         // k at which a vector holds a row tile

// What meets a vector of packed A: b for the rows at the first k, b[step] for those at the second.
#if defined(__AVX512F__)
ORTOLAN_INLINE Vf spread_held(const float* b, int64_t step) {
  const __m512 first = _mm512_set1_ps(*b);
  return (Vf)_mm512_mask_broadcastss_ps(first, 0xff00, _mm_load_ss(b + step));
}
// Row i of the tile whose columns are the sums of both halves.
template <int N>
ORTOLAN_INLINE void turn_thin(const Vf (*tile)[N], Vf (&rows)[kTileRows]) {
  const Vf(&sums)[N] = *tile;
  const auto add_halves = [](Vf v) __attribute__((always_inline)) {
    return v + (Vf)_mm512_shuffle_f32x4((__m512)v, (__m512)v, 0x4e);
  };
  Vf s[4] = {};
#pragma GCC unroll 4
  for (int j = 0; j < N; ++j) s[j] = add_halves(sums[j]);
  const __m512 left = _mm512_shuffle_f32x4((__m512)s[0], (__m512)s[1], 0x44);
  const __m512 right = _mm512_shuffle_f32x4((__m512)s[2], (__m512)s[3], 0x44);
  const __m512i first = _mm512_setr_epi32(0, 8, 16, 24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
#pragma GCC unroll 8
  for (int i = 0; i < kTileRows; ++i) {
    rows[i] = (Vf)_mm512_permutex2var_ps(left, _mm512_add_epi32(first, _mm512_set1_epi32(i)), right);
  }
}
#elif defined(__AVX2__)
ORTOLAN_INLINE Vf spread_held(const float* b, int64_t step) {
  return (Vf)_mm256_blend_ps((__m256)set1(*b), (__m256)set1(b[step]), 0xf0);
}
// Row i of the tile whose columns are the sums of both halves.
template <int N>
ORTOLAN_INLINE void turn_thin(const Vf (*tile)[N], Vf (&rows)[kTileRows]) {
  const Vf(&sums)[N] = *tile;
  __m128 s[4] = {};
#pragma GCC unroll 4
  for (int j = 0; j < N; ++j) {
    s[j] = _mm_add_ps(_mm256_castps256_ps128((__m256)sums[j]), _mm256_extractf128_ps((__m256)sums[j], 1));
  }
  _MM_TRANSPOSE4_PS(s[0], s[1], s[2], s[3]);
#pragma GCC unroll 4
  for (int i = 0; i < kTileRows; ++i) rows[i] = (Vf)_mm256_zextps128_ps256(s[i]);
}
#else
ORTOLAN_INLINE Vf spread_held(const float* b, int64_t) { return set1(*b); }
template <int N>
ORTOLAN_INLINE void turn_thin(const Vf (*sums)[N], Vf (&rows)[kTileRows]) {
#pragma GCC unroll 8
  for (int i = 0; i < kTileRows; ++i) {
    rows[i] = Vf{};
    for (int j = 0; j < N; ++j) rows[i][j] = sums[i / kLanes][j][i % kLanes];
  }
}
#endif

template <int P, int R, int N>
ORTOLAN_INLINE void join_parts(const Vf (&part)[P][R][N], Vf (&sums)[R][N]) {
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int j = 0; j < N; ++j) {
      sums[r][j] = part[0][r][j];
#pragma GCC unroll 8
      for (int p = 1; p < P; ++p) sums[r][j] += part[p][r][j];
    }
  }
}

// The sums of N columns for the R vectors of row tiles, in several parts where the additions of many tiles would wait
// for each other: how many tiles are taken together, which depends on the division of the work, changes no result.
template <int R, int N>
ORTOLAN_INLINE void sum_thin(const GemmBlock& g, const float* a, Vf (&sums)[R][N]) {
  constexpr int kTogether = kMostThinTiles * kTileVectors * N, kParts = kTogether >= 8 ? 1 : 8 / kTogether;
  Vf part[kParts][R][N] = {};
  const int64_t tile_step = kTileRows * g.lda;
  const auto add = [&](int p, int64_t k, auto load_a, auto load_b) __attribute__((always_inline)) {
    Vf rows[R];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      rows[r] = load_a(a + r / kTileVectors * tile_step + k * kTileRows + r % kTileVectors * kLanes);
    }
#pragma GCC unroll 4
    for (int j = 0; j < N; ++j) {
      const Vf column = load_b(g.b + k * g.b_step + j);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) part[p][r][j] = fma(rows[r], column, part[p][r][j]);
    }
  };
  const auto spread = [&](const float* b) __attribute__((always_inline)) { return spread_held(b, g.b_step); };
  const auto whole = [](const float* p) __attribute__((always_inline)) { return load(p); };
  int64_t k = 0;
  for (; k + kParts * kHeld <= g.k; k += kParts * kHeld) {
#pragma GCC unroll 8
    for (int p = 0; p < kParts; ++p) add(p, k + p * kHeld, whole, spread);
  }
  for (; k + kHeld <= g.k; k += kHeld) add(0, k, whole, spread);
  if (k < g.k) {
    const auto lone = [](const float* p) __attribute__((always_inline)) { return load_n(p, kTileRows); };
    const auto lone_b = [](const float* b) __attribute__((always_inline)) {
      const float both[2] = {*b, 0};
      return spread_held(both, 1);
    };
    add(0, k, lone, lone_b);
  }
  join_parts<kParts, R, N>(part, sums);
}

// R row tiles of N columns; the last one may have fewer rows.
template <int R, int N>
void thin_tiles(const GemmBlock& g, int64_t row) {
  Vf sums[R * kTileVectors][N];
  sum_thin<R * kTileVectors, N>(g, g.a + row * g.lda, sums);
  for (int r = 0; r < R; ++r, row += kTileRows) {
    Vf rows[kTileRows];
    turn_thin<N>(sums + r * kTileVectors, rows);
    if (row + kTileRows <= g.rows) {
      Tile<kTileRows, 1> t;
      t.each([&](Vf, int i, int) __attribute__((always_inline)) { return rows[i]; });
      t.finish(g, row);
    } else {
      for (int64_t i = 0; row + i < g.rows; ++i) Tile<1, 1>{{{rows[i]}}}.finish(g, row + i);
    }
  }
}

template <int N>
void thin_block(const GemmBlock& g) {
  int64_t row = 0;
  constexpr int kMost = kMostThinTiles, kSome = kMost / 2;
  for (; row + kMost * kTileRows <= g.rows; row += kMost * kTileRows) thin_tiles<kMost, N>(g, row);
  for (; row + kSome * kTileRows <= g.rows; row += kSome * kTileRows) thin_tiles<kSome, N>(g, row);
  for (; row < g.rows; row += kTileRows) thin_tiles<1, N>(g, row);
}

void thin_block_packed_a(const GemmBlock& g) {
  if (g.columns == 1) return thin_block<1>(g);
  if constexpr (kThinColumns >= 2) {
    if (g.columns == 2) return thin_block<2>(g);
  }
  if constexpr (kThinColumns >= 4) {
    if (g.columns == 3) return thin_block<3>(g);
    thin_block<4>(g);
  }
}

}  // namespace
}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
