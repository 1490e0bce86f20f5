// The sums of a register tile of fp32 and what finishes them, for one instruction set. Included as vec.h is.
#pragma once

#include "cpu/kernels/products/gemm_f32_kernels.h"
#include "cpu/kernels/vectors/isa_level.h"
#include "cpu/kernels/vectors/unaligned.h"
#include "cpu/kernels/vectors/vec_transpose.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kMaxVectors = 3;
constexpr int kTileRows = 8;
typedef __mmask16 Tail;
ORTOLAN_INLINE Tail make_tail(int64_t n) { return first_lanes(n); }
ORTOLAN_INLINE Vf load_tail(const float* p, Tail t) { return (Vf)_mm512_maskz_loadu_ps(t, p); }
ORTOLAN_INLINE void store_tail(float* p, Tail t, Vf v) { _mm512_mask_storeu_ps(p, t, (__m512)v); }
#else
#if defined(__aarch64__)
constexpr int kMaxVectors = 3;
constexpr int kTileRows = 8;
#else
constexpr int kMaxVectors = kLanes == 8 ? 3 : 2;
constexpr int kTileRows = 4;
#endif
typedef int64_t Tail;
ORTOLAN_INLINE Tail make_tail(int64_t n) { return n; }
ORTOLAN_INLINE Vf load_tail(const float* p, Tail t) { return t == kLanes ? load(p) : load_n(p, t); }
ORTOLAN_INLINE void store_tail(float* p, Tail t, Vf v) { t == kLanes ? store(p, v) : store_n(p, t, v); }
#endif

ORTOLAN_INLINE void prefetch(const void* p) { __builtin_prefetch(p, 0, 3); }

// The next row of a tile. For arm64 one pointer goes from row to row: GCC makes one for each row else, at the price of
// two instructions each in every tile.
template <class T>
ORTOLAN_INLINE T* next_row(T* row, int64_t stride) {
  row += stride;
#if defined(__aarch64__)
  asm("" : "+r"(row));
#endif
  return row;
}

// The sums of one tile, with what finishes them. Loops over MR and NV are unrolled, so the sums stay in registers.
template <int MR, int NV>
struct Tile {
  Vf sum[MR][NV];

  ORTOLAN_INLINE Vf read(const float* p, int j, Tail tail) {
    return j == NV - 1 ? load_tail(p + j * kLanes, tail) : load(p + j * kLanes);
  }

  template <class F>
  __attribute__((always_inline)) void each(F f) {
#pragma GCC unroll 8
    for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 3
      for (int j = 0; j < NV; ++j) sum[i][j] = f(sum[i][j], i, j);
    }
  }

  __attribute__((always_inline)) void store_columns(float* c, int64_t ldc, Tail tail) const {
#pragma GCC unroll 8
    for (int i = 0; i < MR; ++i, c = next_row(c, ldc)) {
#pragma GCC unroll 3
      for (int j = 0; j < NV - 1; ++j) store(c + j * kLanes, sum[i][j]);
      store_tail(c + (NV - 1) * kLanes, tail, sum[i][NV - 1]);
    }
  }

  __attribute__((always_inline)) void finish(const GemmBlock& g, int64_t row) {
    const Tail tail = make_tail(g.columns - (NV - 1) * kLanes);
    float* c = g.c + row * g.ldc;
    if (g.alpha != 1) {
      const Vf alpha = set1(g.alpha);
      each([&](Vf s, int, int) __attribute__((always_inline)) { return s * alpha; });
    }
    if (g.c_scale != 0) {
      const Vf scale = set1(g.c_scale);
      each([&](Vf s, int i, int j)
               __attribute__((always_inline)) { return fma(read(c + i * g.ldc, j, tail), scale, s); });
    }
    if (g.column_bias != nullptr) {
      each([&](Vf s, int, int j) __attribute__((always_inline)) { return s + read(g.column_bias, j, tail); });
    }
    if (g.row_bias != nullptr) {
      each([&](Vf s, int i, int) __attribute__((always_inline)) { return s + set1(g.row_bias[row + i]); });
    }
    if (g.shift != 0) {
      const Vf shift = set1(g.shift);
      each([&](Vf s, int, int) __attribute__((always_inline)) { return s + shift; });
    }
    if (g.residual != nullptr) {
      const float* residual = g.residual + row * g.residual_stride;
      each([&](Vf s, int i, int j)
               __attribute__((always_inline)) { return s + read(residual + i * g.residual_stride, j, tail); });
    }
    if (g.clamp) {
      const Vf low = set1(g.low), high = set1(g.high);
      each([&](Vf s, int, int) __attribute__((always_inline)) { return vmin(high, vmax(low, s)); });
    }
    // Without masked stores each row would ask whether its last vector is whole.
    if (kLanes < 16 && g.columns == NV * kLanes) return store_columns(c, g.ldc, make_tail(kLanes));
    store_columns(c, g.ldc, tail);
  }
};

// Asks for what the finish of a tile will touch.
template <int MR, int NV>
ORTOLAN_INLINE void prefetch_tile(const float* p, int64_t stride) {
#pragma GCC unroll 8
  for (int i = 0; i < MR; ++i, p = next_row(p, stride)) {
#pragma GCC unroll 4
    for (int j = 0; j < NV; ++j) {
      if (j * kLanes % kLineFloats == 0) prefetch(p + j * kLanes);
    }
    prefetch(p + NV * kLanes - 1);
  }
}

}  // namespace
}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
