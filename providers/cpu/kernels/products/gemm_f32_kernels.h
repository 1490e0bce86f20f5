// What one instruction set provides for fp32 products. Internal to the kernels.
#pragma once

#include <cstdint>

#include "base/isa/isa_level.h"
#include "cpu/kernels/division/panel_split.h"
#include "cpu/kernels/products/gemm_f32.h"

namespace ortolan::cpu::kernels {

/**
 * What becomes of a block of sums: C[rows, columns] = finish(alpha * sums + c_scale * C), where C is not read if
 * c_scale is 0. Finishing adds what is given and then clamps.
 */
struct GemmFinish {
  float* c;
  int64_t ldc;
  int64_t rows, columns;
  float alpha = 1, c_scale = 0;
  const float* column_bias = nullptr;
  const float* row_bias = nullptr;
  float shift = 0;  // added to every element
  const float* residual = nullptr;
  int64_t residual_stride = 0;
  bool clamp = false;
  float low = 0, high = 0;
};

/**
 * A block of a product A*B. B is one panel: k rows of `vectors` vectors, b_step floats apart. A is row-major, row
 * stride lda, or packed in blocks of tile_rows rows, each k x tile_rows (the last one filled up).
 */
struct GemmBlock : GemmFinish {
  const float* a;
  int64_t lda;
  const float* b;
  int64_t b_step;
  const int64_t* b_rows = nullptr;  // for block_of_rows: where each row of B begins, instead of b_step
  int64_t k;
  bool panel_beside = false;  // B goes on to the right, in memory that is far, and is read next; for packed A
  // For row-major A: what is read after this block, which memory is asked for meanwhile. Never read by the kernel.
  const char* next = nullptr;
  int64_t next_bytes = 0;
};

constexpr int64_t kLongestSum = 256;

/** Length of the blocks in which sums over k run; the last block may be shorter. */
inline int64_t k_block(int64_t k, int64_t longest = kLongestSum) {
  const int64_t blocks = (k + longest - 1) / longest;
  return blocks <= 1 ? k : (k + blocks - 1) / blocks;
}

struct GemmF32Kernels {
  base::IsaLevel isa;
  int lanes;        // floats in a vector
  int max_vectors;  // widest panel
  int tile_rows;    // rows of A in one register tile

  void (*block)(int vectors, const GemmBlock& block);  // nullptr: A is packed
  void (*block_packed_a)(int vectors, const GemmBlock& block);
  /**
   * One row times the panels [begin, end) of a packed B, in that order or backward. `row` describes the whole product:
   * its pointers are those of column 0, and b, b_step and columns are not read. Sums run in blocks of k_block(k).
   */
  void (*row_panels)(PackedElement element, const void* b, const PanelSplit& split, int64_t begin, int64_t end,
                     bool backward, const GemmBlock& row);
  /** block_packed_a with B's rows at b + b_rows[k]; reads whole vectors of them. */
  void (*block_of_rows)(int vectors, const GemmBlock& block);
  /**
   * The same for a panel of at most lanes/4 columns, sums running down the rows of A. May read a vector past A's end.
   */
  void (*thin_block_packed_a)(const GemmBlock& block);
  /** Panel of `width` columns, of which `columns` come from b (row stride ldb) and the rest are zero. */
  void (*pack_panel)(const float* b, int64_t ldb, int64_t k, int64_t columns, int64_t width, float* panel);
  /** The same where b holds the columns as rows. */
  void (*pack_panel_transposed)(const float* b, int64_t ldb, int64_t k, int64_t columns, int64_t width, float* panel);
  /** y[i] = sum over k of a[i*lda + k]*x[k], for each of `rows`. */
  void (*matrix_vector)(const float* a, int64_t lda, int64_t rows, int64_t k, const float* x, float* y);
  /** Whether panels are as narrow as WinogradKernels takes them. */
  bool in_winograd = true;
  /** Whether packed A is multiplied so much faster that A is packed for products of several panels. */
  bool packs_left = false;
  /** What k_block() is told for products of several rows. */
  int64_t longest_sum = kLongestSum;
  /** Where `block` is nullptr, kernels that have it, for the vectors of the other families. */
  const GemmF32Kernels* with_block = nullptr;
};

/** The kernels themselves, or, where theirs are other vectors, those of the vectors that other families have. */
inline const GemmF32Kernels& of_plain_vectors(const GemmF32Kernels& kernels) {
  return kernels.with_block != nullptr ? *kernels.with_block : kernels;
}

/** Of the largest register tile. */
inline int64_t tile_sums(const GemmF32Kernels& kernels) {
  return int64_t{kernels.tile_rows} * kernels.max_vectors * kernels.lanes;
}

}  // namespace ortolan::cpu::kernels
