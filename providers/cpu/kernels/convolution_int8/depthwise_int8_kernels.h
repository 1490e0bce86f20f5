// What one instruction set provides for depthwise convolution of bytes. Internal to the kernels.
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

inline constexpr int64_t kWordChannels = 64;  // of a group of words
inline constexpr int64_t kWordRows = 4;       // taps down that a word holds

/** The channel whose word is the i-th of its group. */
inline int64_t channel_of_word(int64_t i) { return i % 16 / 4 * 16 + i / 16 * 4 + i % 4; }

/**
 * Neighbouring outputs of one row, for up to kWordChannels channels. A word holds kWordRows taps down of one channel;
 * words come in groups, in the order of channel_of_word(). `words` is scratch for word_rows groups of each input
 * column.
 */
struct DepthwiseWordsRun {
  const uint8_t* const* rows;  // kWordRows * word_rows lines of the image, at its first column
  const int64_t* row_steps;    // bytes from one column to the next
  const uint8_t* nothing;      // kWordChannels zero points, for what is beside the image
  bool x_signed;
  int64_t first_column, columns, in_columns;  // those that the outputs need; the image has [0, in_columns)
  int64_t word_rows, taps_across, dilation, stride;
  int64_t channels, outputs, output_step;
  const int8_t* weights;  // [tap across][word row][word]
  const int32_t* start;   // what sums begin with, a word
  const float* scale;     // a word
  int32_t y_zero;
  bool y_signed;
  int32_t* words;
  uint8_t* y;
};

struct DepthwiseInt8Kernels {
  int64_t least_channels;
  void (*convolve)(const DepthwiseBytesRun& run);
  void (*convolve_words)(const DepthwiseWordsRun& run);  // nullptr where words have no product
};

}  // namespace ortolan::cpu::kernels
