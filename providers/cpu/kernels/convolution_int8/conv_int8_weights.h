// Packed weights of convolutions of bytes. Internal to the kernels.
#pragma once

#include "cpu/kernels/aligned_buffer.h"
#include "cpu/kernels/convolution_int8/conv_int8.h"
#include "cpu/kernels/convolution_int8/conv_int8_tiles.h"
#include "cpu/kernels/convolution_int8/depthwise_int8.h"
#include "cpu/kernels/convolution_int8/winograd_int16.h"
#include "cpu/kernels/quantised/gemm_int8_kernels.h"
#include "cpu/kernels/vectors/lengths.h"

namespace ortolan::cpu::kernels {

inline constexpr int64_t kExactTaps = 256;  // taps of depthwise weights whose sums of byte products fp32 holds exactly

// Sums run over words: a word holds one tap of `group` neighbouring channels. Weights are laid out alike.
struct PackedConvWeightsInt8::Storage {
  const GemmInt8Kernels* kernels;
  int64_t groups, group_rows;  // output channels of a group
  int64_t depth, taps;         // input channels of a group
  bool is_signed;
  bool depthwise;
  AlignedBuffer data;             // for each group what pack_left writes; where depthwise, the weights as they came
  TileConvWeights tiles;          // instead of data, unless empty
  WinogradInt16Weights winograd;  // likewise
  DepthwiseWords words;           // beside data where depthwise: those of weights without zero points, or empty

  int64_t channel_words() const { return divide_up(depth, kernels->group); }
  int64_t used_words() const { return channel_words() * taps; }
  /** With the zeros that kernels want behind them. */
  int64_t depth_words() const { return kernels->groups(used_words() * kernels->group); }
  int64_t group_bytes() const { return left_bytes(*kernels, group_rows, depth_words() * kernels->group); }
  LeftInt8 group(int64_t g) const {
    return left_at(*kernels, group_rows, depth_words() * kernels->group, is_signed,
                   data.as<uint8_t>() + g * group_bytes());
  }
};

}  // namespace ortolan::cpu::kernels
