// What one instruction set provides for depthwise convolution of bytes. Internal to this folder.
#pragma once

#include <cstdint>

namespace ortolan::cpu::kernels {

/** Neighbouring outputs of one row whose windows have the same taps inside the image; channels last. */
struct DepthwiseBytesRun {
  const uint8_t* x;  // the first tap of the first output
  bool x_signed;
  int32_t x_zero;
  int64_t rows, row_step;        // taps down, and bytes between them
  int64_t columns, column_step;  // taps across
  int64_t channels, outputs, output_step;
  const float* weights;  // [channels] of the first tap, without their zero points
  int64_t weight_row;    // elements between taps down; those across follow each other
  const int32_t* bias;   // or nullptr
  const float* scale;
  bool scale_per_channel;
  int32_t y_zero;
  bool y_signed;
  uint8_t* y;
};

struct DepthwiseInt8Kernels {
  int64_t least_channels;
  void (*convolve)(const DepthwiseBytesRun& run);
};

}  // namespace ortolan::cpu::kernels
