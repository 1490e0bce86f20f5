// 3x3 convolution with stride 1 by Winograd's F(2x2, 3x3): sixteen products over 4x4 tiles instead of nine taps
// (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2016). Internal to this folder.
#pragma once

#include <cstdint>

#include "cpu/kernels/conv_f32.h"

namespace ortolan::cpu::kernels {

struct GemmF32Kernels;

/** Tiles of one panel that lie in one row of tiles: `count` of them, at column `at` of the panel. */
struct TileRun {
  int64_t at, count;
  int64_t row, column;  // the first one's place among the tiles
};

/** v[position*position_step + channel*width + at] of each run: the input's tiles, transformed. */
struct WinogradInput {
  const float* x;  // channels planes of h x w
  int64_t channels, h, w, pad_h, pad_w;
  float* v;
  int64_t position_step, width;
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
};

struct WinogradKernels {
  void (*input)(const WinogradInput& input, const TileRun& run);
  void (*output)(const WinogradOutput& output, const TileRun& run);
};

/** True where a convolution of these weights is better done this way, whatever its input's size. */
bool suits_winograd(const ConvGeometry& geometry, int lanes);

/** Floats of transformed weights; the tiles of rows are as for GemmF32Kernels::block_packed_a. */
int64_t winograd_weights_size(const ConvGeometry& geometry, const GemmF32Kernels& kernels);
void transform_winograd_weights(base::ThreadPool* pool, const ConvGeometry& geometry, const GemmF32Kernels& kernels,
                                const float* weights, float* to);

void conv_winograd(base::ThreadPool* pool, const ConvGeometry& geometry, const float* x, const float* weights,
                   const GemmF32Kernels& kernels, const ConvEpilogue& epilogue, float* y);

}  // namespace ortolan::cpu::kernels
