// What one instruction set provides for fp32 products. Internal to this folder.
#pragma once

#include <cstdint>

#include "base/cpu_features.h"

namespace ortolan::cpu::kernels {

/**
 * A block of a product: C[rows, columns] = finish(alpha * A*B + c_scale * C), where C is not read if c_scale is 0.
 * B is one panel: k rows of `vectors` vectors, b_step floats apart. A is row-major, row stride lda, or packed in blocks
 * of tile_rows rows, each k x tile_rows (the last one filled up). Finishing adds what is given and then clamps.
 */
struct GemmBlock {
  const float* a;
  int64_t lda;
  const float* b;
  int64_t b_step;
  float* c;
  int64_t ldc;
  int64_t rows, columns, k;
  float alpha = 1, c_scale = 0;
  const float* column_bias = nullptr;
  const float* row_bias = nullptr;
  float shift = 0;  // added to every element
  const float* residual = nullptr;
  int64_t residual_stride = 0;
  bool clamp = false;
  float low = 0, high = 0;
};

struct GemmF32Kernels {
  base::IsaLevel isa;
  int lanes;        // floats in a vector
  int max_vectors;  // widest panel
  int tile_rows;    // rows of A in one register tile

  void (*block)(int vectors, const GemmBlock& block);
  void (*block_packed_a)(int vectors, const GemmBlock& block);
  /** Panel of `width` columns, of which `columns` come from b (row stride ldb) and the rest are zero. */
  void (*pack_panel)(const float* b, int64_t ldb, int64_t k, int64_t columns, int64_t width, float* panel);
  /** The same where b holds the columns as rows. */
  void (*pack_panel_transposed)(const float* b, int64_t ldb, int64_t k, int64_t columns, int64_t width, float* panel);
  /** y[i] = sum over k of a[i*lda + k]*x[k], for each of `rows`. */
  void (*matrix_vector)(const float* a, int64_t lda, int64_t rows, int64_t k, const float* x, float* y);
};

/** Panels are split so that all but the last two are widest and none is much narrower than its neighbour. */
class PanelSplit {
 public:
  PanelSplit(int64_t n, const GemmF32Kernels& kernels) : n_(n), lanes_(kernels.lanes), widest_(kernels.max_vectors) {
    vectors_ = (n + lanes_ - 1) / lanes_;
    wide_ = vectors_ / widest_;
    const int64_t rest = vectors_ % widest_;
    split_last_ = widest_ == 3 && rest == 1 && wide_ > 0;
    if (split_last_) --wide_;
    count_ = wide_ + (split_last_ ? 2 : rest != 0);
  }
  int64_t count() const { return count_; }
  int64_t padded() const { return vectors_ * lanes_; }
  int vectors(int64_t panel) const {
    if (panel < wide_) return widest_;
    return split_last_ ? 2 : static_cast<int>(vectors_ - wide_ * widest_);
  }
  /** First column of a panel; times k, also where it starts in a packed matrix. */
  int64_t first_column(int64_t panel) const {
    return panel <= wide_ ? panel * widest_ * lanes_ : (wide_ * widest_ + (panel - wide_) * 2) * lanes_;
  }
  int64_t width(int64_t panel) const { return int64_t{vectors(panel)} * lanes_; }
  int64_t columns(int64_t panel) const {
    const int64_t left = n_ - first_column(panel);
    return left < width(panel) ? left : width(panel);
  }

 private:
  int64_t n_, lanes_, widest_, vectors_, wide_, count_;
  bool split_last_;
};

/** Length of the blocks in which sums over k run; the last block may be shorter. */
inline int64_t k_block(int64_t k) {
  constexpr int64_t kLongest = 256;
  const int64_t blocks = (k + kLongest - 1) / kLongest;
  return blocks <= 1 ? k : (k + blocks - 1) / blocks;
}

}  // namespace ortolan::cpu::kernels
