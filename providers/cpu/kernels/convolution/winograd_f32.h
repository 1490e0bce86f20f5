// 3x3 convolution by Winograd's transforms (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2016),
// two by two outputs at a time. With stride 1, F(2x2, 3x3): sixteen products over 4x4 tiles instead of nine taps for
// each of four outputs. With stride 2, a row of five inputs is two phases: the even ones, which meet the outer taps by
// F(2, 2), and the odd ones, which meet the middle tap; both ways together twenty-five products over 5x5 tiles, of
// which those with the odd ones share weights. Internal to the kernels.
#pragma once

#include <cstdint>

#include "cpu/kernels/convolution/conv_f32.h"

namespace ortolan::cpu::kernels {

struct GemmF32Kernels;

/** Tiles of one panel that lie in one row of tiles: `count` of them, at column `at` of the panel. */
struct TileRun {
  int64_t at, count;
  int64_t row, column;  // the first one's place among the tiles
};

/** v[position*position_step + channel*width + at] of each run: the input's tiles, transformed; positions row by row. */
struct WinogradInput {
  const float* x;  // channels planes of h x w
  int64_t channels, h, w, pad_h, pad_w;
  float* v;
  int64_t position_step, width;

  WinogradInput planes(int64_t first, int64_t count) const {
    WinogradInput part = *this;
    part.x += first * h * w, part.v += first * width, part.channels = count;
    return part;
  }
};

/** Turns products (laid out like v, a row for each output channel) into outputs; y points at the first channel. */
struct WinogradOutput {
  const float* m;
  int64_t position_step, width;
  int64_t channels, h, w;
  const float* bias;      // one a channel, or nullptr
  const float* residual;  // laid out like y, or nullptr
  float low, high;
  float* y;

  WinogradOutput planes(int64_t first, int64_t count) const {
    WinogradOutput part = *this;
    part.m += first * width, part.y += first * h * w, part.channels = count;
    if (bias != nullptr) part.bias += first;
    if (residual != nullptr) part.residual += first * h * w;
    return part;
  }
};

struct WinogradTransforms {
  void (*input)(const WinogradInput& input, const TileRun& run);
  void (*output)(const WinogradOutput& output, const TileRun& run);
};
struct WinogradKernels {
  WinogradTransforms of_stride[2];  // 1 and 2
};

/** Sums of a register tile from which on products are so fast that fewer of them pay for the transforms. */
inline constexpr int64_t kEnoughSums = 96;

/**
 * True where a convolution of these weights is better done this way by kernels with so many sums in a register tile.
 * `positions` are the outputs of a channel in one image, 0 where they are not known.
 */
bool suits_winograd(const ConvGeometry& geometry, int64_t tile_sums, int64_t positions);

/** Floats of transformed weights; the tiles of rows are as for GemmF32Kernels::block_packed_a. */
int64_t winograd_weights_size(const ConvGeometry& geometry, const GemmF32Kernels& kernels);
void transform_winograd_weights(base::ThreadPool* pool, const ConvGeometry& geometry, const GemmF32Kernels& kernels,
                                const float* weights, float* to);

void conv_winograd(base::ThreadPool* pool, const ConvGeometry& geometry, const float* x, const float* weights,
                   const GemmF32Kernels& kernels, const ConvEpilogue& epilogue, float* y);

}  // namespace ortolan::cpu::kernels
