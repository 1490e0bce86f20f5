// Products of fp32 by outer products of streaming vectors (SME), whose length the processor gives. Included as vec.h
// is.
#pragma once

#include <cstddef>

#include "cpu/kernels/products/gemm_sme.h"
#include "cpu/kernels/products/gemm_tile_body.h"

namespace ortolan::cpu::kernels {
namespace generic {
extern const GemmF32Kernels kGemmF32;
}

namespace ORTOLAN_ISA {

/** A block of a product, for the assembly. Steps of C and the residual, and from tile to tile of A, are in bytes. */
struct SmeBlock {
  const float* a;  // tiles of two vectors of rows, one k after the other
  int64_t a_tile_bytes;
  const float* b;
  int64_t b_step;         // floats
  const int64_t* b_rows;  // or where each row of B begins
  int64_t k;
  int64_t rows, columns;  // columns: of two vectors
  float* c;
  int64_t c_bytes;
  const float* column_bias;
  const float* row_bias;
  const float* residual;
  int64_t residual_bytes;
  float alpha, c_scale, shift, low, high;
  uint32_t steps;  // those of the finish that change something: bits in the order of GemmFinish
};
static_assert(offsetof(SmeBlock, b_rows) == 32 && offsetof(SmeBlock, columns) == 56 && offsetof(SmeBlock, c) == 64 &&
              offsetof(SmeBlock, residual_bytes) == 104 && offsetof(SmeBlock, steps) == 132);

extern "C" void ortolan_sme_multiply(const SmeBlock* block);
extern "C" void ortolan_sme_transpose(const float* from, int64_t from_bytes, int64_t rows, int64_t k, int64_t width,
                                      float* to, int64_t to_bytes);

namespace {

uint32_t steps_of(const GemmFinish& g) {
  const bool steps[] = {
      g.alpha != 1,          g.c_scale != 0, g.column_bias != nullptr, g.row_bias != nullptr, g.shift != 0,
      g.residual != nullptr, g.clamp};
  uint32_t bits = 0;
  for (int i = 0; i < 7; ++i) bits |= static_cast<uint32_t>(steps[i]) << i;
  return bits;
}

// The same sums without streaming vectors.
void multiply_plainly(const GemmBlock& g, int64_t tile_rows) {
  for (int64_t row = 0; row < g.rows; ++row) {
    const float* a = g.a + row / tile_rows * tile_rows * g.lda + row % tile_rows;
    for (int64_t column = 0; column < g.columns; column += kLanes) {
      GemmBlock part = g;
      part.c += column;
      part.columns = least(kLanes, g.columns - column);
      if (g.column_bias != nullptr) part.column_bias += column;
      if (g.residual != nullptr) part.residual += column;
      Vf sum{};
      for (int64_t k = 0; k < g.k; ++k) {
        const float* b = g.b + (g.b_rows != nullptr ? g.b_rows[k] : k * g.b_step);
        sum = fma(load_n(b + column, part.columns), set1(a[k * tile_rows]), sum);
      }
      Tile<1, 1>{{{sum}}}.finish(part, row);
    }
  }
}

template <int L>
void multiply(const GemmBlock& g) {
  constexpr int kBytes = L * sizeof(float);  // a program may change the length, thread by thread
  if (base::streaming_bytes(base::IsaLevel::kSme) != kBytes) return multiply_plainly(g, 2 * L);
  constexpr int64_t kFloat = sizeof(float);
  const SmeBlock block{g.a,           2 * L * g.lda * kFloat,
                       g.b,           g.b_step,
                       g.b_rows,      g.k,
                       g.rows,        g.columns,
                       g.c,           g.ldc * kFloat,
                       g.column_bias, g.row_bias,
                       g.residual,    g.residual_stride * kFloat,
                       g.alpha,       g.c_scale,
                       g.shift,       g.low,
                       g.high,        steps_of(g)};
  ortolan_sme_multiply(&block);
}

// Of packed A, with B's rows listed or evenly spaced.
template <int L>
void packed_block(int, const GemmBlock& g) {
  multiply<L>(g);
}

template <int L>
void thin_block_packed_a(const GemmBlock& g) {
  multiply<L>(g);
}

// Of the length that the thread has.
void pack_panel_transposed(const float* b, int64_t ldb, int64_t k, int64_t columns, int64_t width, float* panel) {
  constexpr int64_t kFloat = sizeof(float);
  if (k > 0 && width > 0) ortolan_sme_transpose(b, ldb * kFloat, columns, k, width, panel, width * kFloat);
}

void row_panels(PackedElement element, const void* b, const PanelSplit& split, int64_t begin, int64_t end,
                bool backward, const GemmBlock& row) {
  generic::kGemmF32.row_panels(element, b, split, begin, end, backward, row);
}
void pack_panel(const float* b, int64_t ldb, int64_t k, int64_t columns, int64_t width, float* panel) {
  generic::kGemmF32.pack_panel(b, ldb, k, columns, width, panel);
}
void matrix_vector(const float* a, int64_t lda, int64_t rows, int64_t k, const float* x, float* y) {
  generic::kGemmF32.matrix_vector(a, lda, rows, k, x, y);
}

template <int L>
constexpr GemmF32Kernels kernels_of() {
  return {.isa = base::IsaLevel::kSme,
          .lanes = L,
          .max_vectors = 2,
          .tile_rows = 2 * L,
          .block_packed_a = packed_block<L>,
          .row_panels = row_panels,
          .block_of_rows = packed_block<L>,
          .thin_block_packed_a = thin_block_packed_a<L>,
          .pack_panel = pack_panel,
          .pack_panel_transposed = pack_panel_transposed,
          .matrix_vector = matrix_vector,
          .in_winograd = false,
          .longest_sum = 1024,
          .with_block = &generic::kGemmF32};
}

constexpr GemmF32Kernels kKernels[] = {kernels_of<4>(), kernels_of<8>(), kernels_of<16>(), kernels_of<32>()};

}  // namespace

const GemmF32Kernels* gemm_f32_of(int lanes) noexcept {
  for (const GemmF32Kernels& kernels : kKernels) {
    if (kernels.lanes == lanes) return &kernels;
  }
  return &generic::kGemmF32;
}

}  // namespace ORTOLAN_ISA
}  // namespace ortolan::cpu::kernels
