// Depthwise convolution of bytes with channels last.
#pragma once

#include "cpu/kernels/conv_int8.h"

namespace ortolan::cpu::kernels {

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
