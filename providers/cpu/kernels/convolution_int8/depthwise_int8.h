// Depthwise convolution of bytes with channels last.
#pragma once

#include "cpu/kernels/aligned_buffer.h"
#include "cpu/kernels/convolution_int8/conv_int8.h"

namespace ortolan::cpu::kernels {

/** The weights of a depthwise convolution, without their zero points, for DepthwiseInt8Kernels::convolve_words. */
struct DepthwiseWords {
  AlignedBuffer weights;  // bytes: [group of channels][tap across][word row][word]
  AlignedBuffer sums;     // int32_t: of each channel's weights; channels up to a whole group

  bool empty() const { return weights.bytes() == 0; }
  int64_t bytes() const { return static_cast<int64_t>(weights.bytes() + sums.bytes()); }
};

/** Empty where the instruction set has no words, or where a weight without its zero point is no signed byte. `bytes`
    and `operands` as those of pack_conv_weights_int8 and depthwise_channels_last; only zero points are looked at. */
DepthwiseWords depthwise_words(const ConvGeometry& geometry, const void* bytes, bool is_signed,
                               const ConvInt8& operands);

/** What comes after the sums of a quantised convolution; see qlinear_conv. */
struct Requantization {
  const int32_t* bias;
  const float* scale;
  bool scale_per_channel;
  int32_t y_zero;
  bool y_signed;
};

/** True where depthwise_channels_last() takes the convolution: two spatial dimensions, a filter a channel, and channels
    for a vector at least. */
bool takes_channels_last(const ConvGeometry& geometry);

/** qlinear_conv of such a convolution, x and y with channels last. `weights` come from pack_conv_weights_int8. */
void depthwise_channels_last(base::ThreadPool* pool, const ConvGeometry& geometry, const ConvInt8& operands,
                             const PackedConvWeightsInt8& weights, const Requantization& after, uint8_t* y);

}  // namespace ortolan::cpu::kernels
