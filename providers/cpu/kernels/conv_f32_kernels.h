// What one instruction set provides for fp32 convolution, beside the product itself. Internal to this folder.
#pragma once

#include <cstdint>

#include "cpu/kernels/conv_f32.h"

namespace ortolan::cpu::kernels {

/** Output positions of one panel that lie in one output row: `count` of them, from column `at` of the panel. */
struct ColumnRun {
  int64_t at, count;
  int64_t out[3];  // the first one's output index
};

/** A depthwise plane whose input is already padded: every tap of every output lies inside it. 2-D. */
struct DepthwisePlane {
  const float* x;
  int64_t x_stride;  // floats from one row to the next
  const float* taps;
  int64_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w;
  int64_t out_h, out_w;
  float bias;
  const float* residual;  // out_h x out_w, or nullptr
  float low, high;        // clamp of the result
  float* y;
};

struct ConvF32Kernels {
  /**
   * Writes rows [0, channels*taps) of a panel: row (channel, tap) holds, for each output of `runs`, the input element
   * that the tap meets, or 0 in the padding. x points at the first channel's plane. Columns past the last run become 0.
   */
  void (*gather_panel)(const ConvGeometry& geometry, const float* x, int64_t channels, const ColumnRun* runs,
                       int64_t run_count, int64_t columns, int64_t width, float* panel);
  void (*depthwise)(const DepthwisePlane& plane);
};

}  // namespace ortolan::cpu::kernels
