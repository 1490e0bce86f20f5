// A pointwise convolution and a depthwise one of its result, of which the values between need not leave the caches.
#pragma once

#include "base/function_ref.h"
#include "cpu/kernels/convolution/conv_f32.h"

namespace ortolan::cpu::kernels {

/**
 * Two convolutions of images (spatial rank 2): 1x1 with one group, no pads and steps of one, and one of a filter for
 * each channel of that one's result. `second.in` is `first.out`. Epilogues have no residuals.
 */
struct ConvPair {
  ConvGeometry first, second;
  const PackedConvWeights &first_weights, &second_weights;
  ConvEpilogue first_epilogue, second_epilogue;
};

/**
 * y = second(first(x)). Where the values between would leave the caches, bands of rows and groups of channels go
 * through both. Else the convolutions run one after the other, and `between(floats)` gives the memory for all values
 * between. Results are the same bits either way and by any number of threads. `pool` may be nullptr.
 */
void conv_pair(base::ThreadPool* pool, const ConvPair& pair, const float* x,
               base::FunctionRef<float*(int64_t floats)> between, float* y);

}  // namespace ortolan::cpu::kernels
