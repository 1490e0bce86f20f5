// Products, packing and matrix-vector products of fp32 for one instruction set. Included as vec.h is.
#pragma once

#include <type_traits>
#include <utility>

#include "cpu/kernels/products/gemm_thin_body.h"
#include "cpu/kernels/vectors/vec_half.h"
#if defined(__aarch64__)
#include "cpu/kernels/products/gemm_neon_tile.h"
#endif

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

// For panels of one vector, the rows of packed A that are read while memory answers; wider ones take as many times
// longer.
constexpr int64_t kAhead = 384;

// Where a row of k takes few instructions, a jump and what asks for memory are a good part of them, and processors
// fetch soon enough by themselves.
constexpr bool kLongVectors = kLanes == 16;
constexpr int kUnrolled = kLongVectors ? 1 : 2;

enum class Operands { kRowMajorA, kPackedA, kPackedAListedB };

#if defined(__aarch64__)
// Panels of one row may be those of longer vectors (gemm_sme_body.h), of which so many are summed at once.
constexpr bool kOtherPanels = true;
constexpr int kMostOfRow = 4;
// Rows of a tile of row-major A: their values at four k are a register each, beside the sums and a row of B.
constexpr int kRowMajorRows = 6;
constexpr bool kPacksLeft = true;

template <int kLane>
ORTOLAN_INLINE Vf fma_lane(Vf b, Vf a, Vf sum) {
  return (Vf)vfmaq_laneq_f32((float32x4_t)sum, (float32x4_t)b, (float32x4_t)a, kLane);
}

template <int kFirst, int kStep, int MR, int NV, int... I>
ORTOLAN_INLINE void add_lanes(const Vf* a, const Vf (&b)[NV], Tile<MR, NV>& t, std::integer_sequence<int, I...>) {
  const auto add = [&]<int kRow>(std::integral_constant<int, kRow>) __attribute__((always_inline)) {
    constexpr int kAt = kFirst + kRow * kStep;
#pragma GCC unroll 3
    for (int j = 0; j < NV; ++j) t.sum[kRow][j] = fma_lane<kAt % kLanes>(b[j], a[kAt / kLanes], t.sum[kRow][j]);
  };
  (..., add(std::integral_constant<int, I>()));
}

// sum[i] += lane kFirst + i * kStep of a, which are vectors side by side, times b.
template <int kFirst, int kStep, int MR, int NV>
ORTOLAN_INLINE void add_lanes(const Vf* a, const float* b, Tile<MR, NV>& t) {
  Vf bv[NV];
#pragma GCC unroll 3
  for (int j = 0; j < NV; ++j) bv[j] = load(b + j * kLanes);
  add_lanes<kFirst, kStep>(a, bv, t, std::make_integer_sequence<int, MR>());
}

template <int MR, int NV>
ORTOLAN_INLINE void sum_row_major(const GemmBlock& g, const float* a, Tile<MR, NV>& t) {
  const float* b = g.b;
  const int64_t b_step = g.b_step, lda = g.lda;
  int64_t k = 0;
  for (; k + kLanes <= g.k; k += kLanes, a += kLanes, b += kLanes * b_step) {
    Vf rows[MR];
#pragma GCC unroll 8
    for (int i = 0; i < MR; ++i) rows[i] = load(a + i * lda);
    add_lanes<0, kLanes>(rows, b, t);
    add_lanes<1, kLanes>(rows, b + b_step, t);
    add_lanes<2, kLanes>(rows, b + 2 * b_step, t);
    add_lanes<3, kLanes>(rows, b + 3 * b_step, t);
  }
  for (; k < g.k; ++k, ++a, b += b_step) {
    Vf rows[MR];
#pragma GCC unroll 8
    for (int i = 0; i < MR; ++i) rows[i] = set1(read_unaligned(a + i * lda));
    add_lanes<0, kLanes>(rows, b, t);
  }
}

template <int MR, int NV, bool kListedB, bool kBeside>
ORTOLAN_INLINE void sum_packed(const GemmBlock& g, const float* a, const float* beside, Tile<MR, NV>& t) {
  if constexpr (MR == 8 && NV == 3 && !kListedB && !kBeside) {
    return sum_packed_8x12({a, g.b, g.b_step * static_cast<int64_t>(sizeof(float)), g.k}, t);
  }
  const float* b = g.b;
  const int64_t* b_rows = g.b_rows;
  const int64_t b_step = g.b_step;
#pragma GCC unroll 2
  for (int64_t k = 0; k < g.k; ++k, a += kTileRows) {
    if constexpr (kListedB) b = g.b + *b_rows++;
    if constexpr (kBeside) {
      prefetch(beside);
      beside += b_step;
    }
    const Vf rows[] = {load(a), load(a + kLanes)};
    add_lanes<0, 1>(rows, b, t);
    if constexpr (!kListedB) b += b_step;
  }
}

template <int MR, int NV, Operands kOperands, bool kBeside>
ORTOLAN_INLINE void sum_tile(const GemmBlock& g, const float* a, const float* beside, Tile<MR, NV>& t) {
  if constexpr (kOperands == Operands::kRowMajorA) {
    sum_row_major(g, a, t);
  } else {
    sum_packed<MR, NV, kOperands == Operands::kPackedAListedB, kBeside>(g, a, beside, t);
  }
}
#else
constexpr bool kOtherPanels = false;
constexpr int kMostOfRow = kMaxVectors;
constexpr int kRowMajorRows = kTileRows;
constexpr bool kPacksLeft = false;

// The sums of a tile. kBeside: asks for a line of each row of the panel beside this one, from `beside` on.
template <int MR, int NV, Operands kOperands, bool kBeside>
ORTOLAN_INLINE void sum_tile(const GemmBlock& g, const float* a, const float* beside, Tile<MR, NV>& t) {
  constexpr bool kPackedA = kOperands != Operands::kRowMajorA, kListedB = kOperands == Operands::kPackedAListedB;
  const float *b = g.b, *half = a + MR / 2 * g.lda;  // of the rows of A: few registers lead to all of them
  const int64_t* b_rows = g.b_rows;
  const int64_t b_step = g.b_step, lda = g.lda;
  const auto add_row = [&]() __attribute__((always_inline)) {
    if constexpr (kListedB) b = g.b + *b_rows++;
    Vf bv[NV];
#pragma GCC unroll 3
    for (int j = 0; j < NV; ++j) {
      bv[j] = load(b + j * kLanes);
      if constexpr (kLongVectors && !kListedB) prefetch(b + 8 * b_step + j * kLanes);
    }
    if constexpr (kBeside) {
      prefetch(beside);
      beside += b_step;
    }
#pragma GCC unroll 8
    for (int i = 0; i < MR; ++i) {
      const Vf x = set1(kPackedA ? a[i] : i < MR / 2 ? a[i * lda] : half[(i - MR / 2) * lda]);
#pragma GCC unroll 3
      for (int j = 0; j < NV; ++j) t.sum[i][j] = fma(x, bv[j], t.sum[i][j]);
    }
    if constexpr (!kListedB) b += b_step;
    a += kPackedA ? kTileRows : 1;
    if constexpr (!kPackedA) ++half;
  };
#pragma GCC unroll kUnrolled
  for (int64_t k = 0; k < g.k; ++k) {
    if constexpr (kLongVectors && kPackedA && !kListedB) prefetch(a + kAhead / NV * kTileRows);
    add_row();
  }
}
#endif

template <int MR, int NV, Operands kOperands>
void tile(const GemmBlock& g, int64_t row, const float* a) {
  Tile<MR, NV> t;
  t.each([](Vf, int, int) __attribute__((always_inline)) { return Vf{}; });
  if (g.residual != nullptr) prefetch_tile<MR, NV>(g.residual + row * g.residual_stride, g.residual_stride);
  if constexpr (!kLongVectors) prefetch_tile<MR, NV>(g.c + row * g.ldc, g.ldc);
  // The first few row tiles ask for a line each of the panel beside this one, in step with the rows of this one.
  constexpr bool kMayAsk = kOperands == Operands::kPackedA;
  const int64_t line = row / kTileRows;
  if (kMayAsk && g.panel_beside && line * kLineFloats < NV * kLanes) {
    sum_tile<MR, NV, kOperands, kMayAsk>(g, a, g.b + NV * kLanes + line * kLineFloats, t);
  } else {
    sum_tile<MR, NV, kOperands, false>(g, a, nullptr, t);
  }
  t.finish(g, row);
}

template <PackedElement kElement>
using Stored = std::conditional_t<kElement == PackedElement::kFloat, float, uint16_t>;

template <PackedElement kElement>
ORTOLAN_INLINE Vf load_stored(const Stored<kElement>* p) {
  if constexpr (kElement == PackedElement::kBfloat16) {
    return load_bfloat16(p);
  } else if constexpr (kElement == PackedElement::kHalf) {
    return load_half(p);
  } else {
    return load(p);
  }
}

// Elements of 16 bits are multiplied so fast that processors fetch too little ahead by themselves.
constexpr int64_t kFetchedAhead = 4096;  // elements
ORTOLAN_INLINE void fetch_ahead(const uint16_t* p, int64_t count) {
#pragma GCC unroll 8
  for (int64_t i = 0; i < count; i += 32) __builtin_prefetch(p + kFetchedAhead + i, 0, 2);
}

// One row: four sums for each vector of columns, so that the additions do not wait for each other.
template <int NV, PackedElement kElement = PackedElement::kFloat>
ORTOLAN_INLINE Tile<1, NV> sum_row(const float* a, const Stored<kElement>* b, int64_t b_step, int64_t count,
                                   bool far_rows) {
  Tile<4, NV> part;
  part.each([](Vf, int, int) __attribute__((always_inline)) { return Vf{}; });
  int64_t k = 0;
  for (; k + 4 <= count; k += 4) {
    if constexpr (kElement != PackedElement::kFloat) fetch_ahead(b, 4 * NV * kLanes);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const Vf x = set1(a[k + i]);
#pragma GCC unroll 4
      for (int j = 0; j < NV; ++j) {
        if (far_rows && (kLanes > 4 || j == 0)) prefetch(b + 16 * b_step + j * kLanes);
        part.sum[i][j] = fma(x, load_stored<kElement>(b + j * kLanes), part.sum[i][j]);
      }
      b += b_step;
    }
  }
  for (; k < count; ++k, b += b_step) {
    for (int j = 0; j < NV; ++j) {
      part.sum[0][j] = fma(set1(a[k]), load_stored<kElement>(b + j * kLanes), part.sum[0][j]);
    }
  }
  Tile<1, NV> t;
#pragma GCC unroll 4
  for (int j = 0; j < NV; ++j) t.sum[0][j] = (part.sum[0][j] + part.sum[1][j]) + (part.sum[2][j] + part.sum[3][j]);
  return t;
}

template <int NV>
void row_tile(const GemmBlock& g, int64_t row, const float* a) {
  sum_row<NV>(a, g.b, g.b_step, g.k, /*far_rows=*/true).finish(g, row);
}

template <int NV, Operands kOperands, int MR>
ORTOLAN_INLINE void tile_of(int64_t rows, const GemmBlock& g, int64_t row, const float* a) {
  if (rows == MR) {
    if constexpr (MR == 1 && kOperands == Operands::kRowMajorA) {
      return row_tile<NV>(g, row, a);
    } else {
      return tile<MR, NV, kOperands>(g, row, a);
    }
  }
  if constexpr (MR > 1) tile_of<NV, kOperands, MR - 1>(rows, g, row, a);
}

// What a block says comes next is asked for share by share, so that it comes while tiles are computed.
ORTOLAN_INLINE void ask_for_next(const GemmBlock& g, int64_t tile, int64_t tiles) {
  constexpr int64_t kLine = kLineFloats * sizeof(float);
  const int64_t lines = (g.next_bytes + kLine - 1) / kLine, end = lines * (tile + 1) / tiles;
  for (int64_t i = lines * tile / tiles; i < end; ++i) __builtin_prefetch(g.next + i * kLine, 0, 2);
}

// Row-major A: tiles of nearly equal height, so that no tile is left with too few independent sums.
template <int NV>
void block(const GemmBlock& g) {
  const int64_t tiles = (g.rows + kRowMajorRows - 1) / kRowMajorRows;
  for (int64_t i = 0; i < tiles; ++i) {
    ask_for_next(g, i, tiles);
    const int64_t row = g.rows * i / tiles, end = g.rows * (i + 1) / tiles;
    tile_of<NV, Operands::kRowMajorA, kRowMajorRows>(end - row, g, row, g.a + row * g.lda);
  }
}

template <int NV, Operands kOperands = Operands::kPackedA>
void block_packed_a(const GemmBlock& g) {
  for (int64_t row = 0; row < g.rows; row += kTileRows) {
    tile_of<NV, kOperands, kTileRows>(least(kTileRows, g.rows - row), g, row, g.a + row * g.lda);
  }
}

// One row times the first vectors, NV at most, of a panel so wide, in the same blocks of k as taller products.
template <PackedElement kElement, int NV>
void row_panel(int vectors, const GemmBlock& g, const Stored<kElement>* b, int64_t panel_width) {
  if constexpr (NV > 1) {
    if (vectors < NV) return row_panel<kElement, NV - 1>(vectors, g, b, panel_width);
  }
  const int64_t width = kOtherPanels ? panel_width : NV * kLanes;
  const auto sum = [&](int64_t k, int64_t count) __attribute__((always_inline)) {
    return sum_row<NV, kElement>(g.a + k, b + k * width, width, count, /*far_rows=*/false);
  };
  const int64_t step = k_block(g.k);
  Tile<1, NV> total = sum(0, least(step, g.k));
  for (int64_t k = step; k < g.k; k += step) {
    const Tile<1, NV> more = sum(k, least(step, g.k - k));
    for (int j = 0; j < NV; ++j) total.sum[0][j] += more.sum[0][j];
  }
  total.finish(g, 0);
}

template <PackedElement kElement>
void row_panels(const void* b, const PanelSplit& split, int64_t begin, int64_t end, bool backward,
                const GemmBlock& row) {
  GemmBlock g = row;
  for (int64_t i = begin; i < end; ++i) {
    const int64_t panel = backward ? begin + end - 1 - i : i, start = split.first_column(panel);
    const auto* first = static_cast<const Stored<kElement>*>(b) + start * g.k;
    for (int64_t at = 0; at < split.columns(panel); at += kMostOfRow * kLanes) {
      const int64_t column = start + at;
      g.c = row.c + column;
      g.columns = least(kMostOfRow * kLanes, split.columns(panel) - at);
      if (row.column_bias != nullptr) g.column_bias = row.column_bias + column;
      if (row.residual != nullptr) g.residual = row.residual + column;
      const auto vectors = static_cast<int>((g.columns + kLanes - 1) / kLanes);
      row_panel<kElement, kMostOfRow>(vectors, g, first + at, split.width(panel));
    }
  }
}

void any_row_panels(PackedElement element, const void* b, const PanelSplit& split, int64_t begin, int64_t end,
                    bool backward, const GemmBlock& row) {
  constexpr auto kBfloat16 = PackedElement::kBfloat16, kHalf = PackedElement::kHalf, kFloat = PackedElement::kFloat;
  if (element == kBfloat16) return row_panels<kBfloat16>(b, split, begin, end, backward, row);
  if (element == kHalf) return row_panels<kHalf>(b, split, begin, end, backward, row);
  row_panels<kFloat>(b, split, begin, end, backward, row);
}

void any_block(int vectors, const GemmBlock& g) {
  if (vectors == 1) return block<1>(g);
  if (vectors == 2) return block<2>(g);
  if constexpr (kMaxVectors == 3) block<3>(g);
}

void any_block_packed_a(int vectors, const GemmBlock& g) {
  if (vectors == 1) return block_packed_a<1>(g);
  if (vectors == 2) return block_packed_a<2>(g);
  if constexpr (kMaxVectors == 3) block_packed_a<3>(g);
}

void any_block_of_rows(int vectors, const GemmBlock& g) {
  if (vectors == 1) return block_packed_a<1, Operands::kPackedAListedB>(g);
  if (vectors == 2) return block_packed_a<2, Operands::kPackedAListedB>(g);
  if constexpr (kMaxVectors == 3) block_packed_a<3, Operands::kPackedAListedB>(g);
}

void pack_panel(const float* b, int64_t ldb, int64_t k, int64_t columns, int64_t width, float* panel) {
  for (int64_t row = 0; row < k; ++row, b += ldb, panel += width) {
    int64_t c = 0;
    for (; c + kLanes <= columns; c += kLanes) store(panel + c, load(b + c));
    for (; c < width; c += kLanes) store(panel + c, c < columns ? load_n(b + c, columns - c) : Vf{});
  }
}

void pack_panel_transposed(const float* b, int64_t ldb, int64_t k, int64_t columns, int64_t width, float* panel) {
  int64_t c = 0;
  for (; c + kLanes <= columns; c += kLanes) {
    const float* from = b + c * ldb;
    int64_t row = 0;
    for (; row + 4 <= k; row += 4) {
      Vf rows[4];
      load_transposed(from + row, ldb, rows);
      for (int i = 0; i < 4; ++i) store(panel + (row + i) * width + c, rows[i]);
    }
    for (; row < k; ++row) {
      for (int i = 0; i < kLanes; ++i) panel[row * width + c + i] = read_unaligned(from + i * ldb + row);
    }
  }
  for (; c < width; ++c) {
    for (int64_t row = 0; row < k; ++row) panel[row * width + c] = c < columns ? read_unaligned(b + c * ldb + row) : 0;
  }
}

template <int R>
ORTOLAN_INLINE void rows_times_vector(const float* a, int64_t lda, int64_t k, const float* x, float* y) {
  Vf sum[R][2] = {};
  int64_t i = 0;
  for (; i + 2 * kLanes <= k; i += 2 * kLanes) {
    const Vf first = load(x + i), second = load(x + i + kLanes);
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      sum[r][0] = fma(load(a + r * lda + i), first, sum[r][0]);
      sum[r][1] = fma(load(a + r * lda + i + kLanes), second, sum[r][1]);
    }
  }
  for (; i < k; i += kLanes) {
    const int64_t left = least(kLanes, k - i);
    const Vf v = load_n(x + i, left);
    for (int r = 0; r < R; ++r) sum[r][0] = fma(load_n(a + r * lda + i, left), v, sum[r][0]);
  }
  for (int r = 0; r < R; ++r) y[r] = sum_lanes(sum[r][0] + sum[r][1]);
}

void matrix_vector(const float* a, int64_t lda, int64_t rows, int64_t k, const float* x, float* y) {
  int64_t i = 0;
  for (; i + 4 <= rows; i += 4) rows_times_vector<4>(a + i * lda, lda, k, x, y + i);
  for (; i < rows; ++i) rows_times_vector<1>(a + i * lda, lda, k, x, y + i);
}

}  // namespace

extern const GemmF32Kernels kGemmF32;
const GemmF32Kernels kGemmF32 = {
    .isa = kLevel,
    .lanes = kLanes,
    .max_vectors = kMaxVectors,
    .tile_rows = kTileRows,
    .block = any_block,
    .block_packed_a = any_block_packed_a,
    .row_panels = any_row_panels,
    .block_of_rows = any_block_of_rows,
    .thin_block_packed_a = thin_block_packed_a,
    .pack_panel = pack_panel,
    .pack_panel_transposed = pack_panel_transposed,
    .matrix_vector = matrix_vector,
    .packs_left = kPacksLeft,
};

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
