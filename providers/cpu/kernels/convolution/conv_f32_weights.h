// Packed convolution weights, and what the ways to convolve share. Internal to the kernels.
#pragma once

#include <limits>

#include "cpu/kernels/aligned_buffer.h"
#include "cpu/kernels/convolution/conv_f32.h"
#include "cpu/kernels/convolution/conv_f32_kernels.h"
#include "cpu/kernels/convolution/split_conv_f32.h"
#include "cpu/kernels/products/gemm_f32_kernels.h"
#include "cpu/kernels/vectors/lengths.h"

namespace ortolan::cpu::kernels {

struct PackedConvWeights::Storage {
  const GemmF32Kernels* kernels;
  int64_t group_rows;   // output channels of a group
  int64_t group_depth;  // input channels of a group
  int64_t taps;
  int64_t channels_per_block;  // input channels whose taps make one block of the sums
  // Where depthwise, the weights as they came. Else, group after group and in it block after block of the sums, tiles
  // of tile_rows rows, so that they are read in the order in which they lie.
  bool depthwise;
  bool winograd;  // transformed weights instead, as winograd_f32.h lays them out
  AlignedBuffer data;
  std::unique_ptr<SplitConvWeights> tiles;  // instead of data, where tiles are used

  int64_t padded_rows() const {
    const int64_t tile = kernels->tile_rows;
    return (group_rows + tile - 1) / tile * tile;
  }
  const float* block(int64_t group, int64_t first_channel) const {
    return data.as<float>() + padded_rows() * taps * (group * group_depth + first_channel);
  }
};

struct Clamp {
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};

inline Clamp clamp_of(Activation activation) {
  Clamp clamp;
  if (activation.op == UnaryOp::kRelu) clamp.low = 0;
  if (activation.op == UnaryOp::kClip) clamp = {activation.p0, activation.p1};
  return clamp;
}

/** Bias, residual and clamp for a block whose first row is this output channel; block.c lies in y. */
void set_finish(const ConvEpilogue& epilogue, int64_t channel, const float* y, GemmBlock& block);

/** Whether conv_rows may compute this, and is the better way. */
bool suits_rows(const ConvGeometry& geometry, const PackedConvWeights::Storage& weights);
void conv_rows(base::ThreadPool* pool, const ConvGeometry& geometry, const float* x,
               const PackedConvWeights::Storage& weights, const ConvEpilogue& epilogue, float* y);

/** Convolution with one input channel to a group, plane by plane, with the weights as they came. */
void conv_depthwise(base::ThreadPool* pool, const ConvGeometry& geometry, const float* x,
                    const PackedConvWeights::Storage& weights, const ConvEpilogue& epilogue, float* y);
/** What computes its planes straight from the input; nullptr where nothing does. */
DepthwiseDirect direct_depthwise(const ConvGeometry& geometry);

}  // namespace ortolan::cpu::kernels
