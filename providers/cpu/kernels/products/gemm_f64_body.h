// The fp64 product for one instruction set: a block of rows times a panel, sums in registers. Included as vec.h is.
#pragma once

#include <utility>

#include "cpu/kernels/products/gemm_f64_kernels.h"
#include "cpu/kernels/vectors/vec_f64.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kRows = 8;
#else
constexpr int kRows = 4;
#endif
constexpr int kVectors = 3;
constexpr int kColumns = kVectors * kDoubles;

/** The sums of a row, `columns` of them, go to C. */
template <int kUsed>
ORTOLAN_INLINE void finish_row(const BlockF64& block, const Vd* sums, double* c) {
  if (block.columns == kUsed * kDoubles) {
    for (int v = 0; v < kUsed; ++v) {
      Vd result = sums[v] * block.alpha;
      if (block.beta != 0) result = load_doubles(c + v * kDoubles) * block.beta + result;
      store_doubles(c + v * kDoubles, result);
    }
    return;
  }
  double all[kUsed * kDoubles];
  for (int v = 0; v < kUsed; ++v) store_doubles(all + v * kDoubles, sums[v]);
  for (int64_t j = 0; j < block.columns; ++j) {
    c[j] = block.beta != 0 ? block.beta * c[j] + block.alpha * all[j] : block.alpha * all[j];
  }
}

// kUsed: vectors that have columns.
template <int kCount, int kUsed>
void multiply_rows(const BlockF64& block) {
  constexpr int kAhead = 16;  // columns of A from one that is read to one that is asked for
  Vd sums[kCount][kUsed] = {};
  for (int r = 0; r < kCount; ++r) {
    for (int v = 0; v < kUsed; ++v) __builtin_prefetch(block.c + r * block.ldc + v * kDoubles, 1);
  }
  const double *a = block.a, *b = block.b;
  for (int64_t k = 0; k < block.depth; ++k, a += block.a_column, b += block.b_row) {
    __builtin_prefetch(a + kAhead * block.a_column);
    Vd panel[kUsed];
#pragma GCC unroll 4
    for (int v = 0; v < kUsed; ++v) panel[v] = load_doubles(b + v * kDoubles);
#pragma GCC unroll 8
    for (int r = 0; r < kCount; ++r) {
      const Vd x = a[r * block.a_row] - Vd{};  // in every lane
#pragma GCC unroll 4
      for (int v = 0; v < kUsed; ++v) sums[r][v] += x * panel[v];
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kCount; ++r) finish_row<kUsed>(block, sums[r], block.c + r * block.ldc);
}

template <int kUsed, int... kCounts>
void multiply_counted(const BlockF64& block, std::integer_sequence<int, kCounts...>) {
  static_cast<void>(((block.rows == kCounts + 1 && (multiply_rows<kCounts + 1, kUsed>(block), true)) || ...));
}

void multiply(const BlockF64& block) {
  constexpr auto kCounts = std::make_integer_sequence<int, kRows>();
  if (block.columns > 2 * kDoubles) return multiply_counted<3>(block, kCounts);
  if (block.columns > kDoubles) return multiply_counted<2>(block, kCounts);
  multiply_counted<1>(block, kCounts);
}

}  // namespace

extern const GemmF64Kernels kGemmF64;
const GemmF64Kernels kGemmF64 = {kRows, kColumns, multiply};

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
