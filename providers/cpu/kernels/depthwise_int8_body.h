// Depthwise convolution of bytes with channels last for one instruction set. Sums run in fp32, where they are exact.
// Included as vec.h is.
#pragma once

#include "cpu/kernels/depthwise_int8_kernels.h"
#include "cpu/kernels/vec_bytes.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

/** One vector of channels of kOutputs neighbours. */
template <class T, int kOutputs>
ORTOLAN_INLINE void convolve_block(const DepthwiseBytesRun& run, int64_t channel, int64_t output) {
  Vf sums[kOutputs] = {};
  const T* first = reinterpret_cast<const T*>(run.x) + output * run.output_step + channel;
  for (int64_t i = 0; i < run.rows; ++i) {
    const T* x = first + i * run.row_step;
    const float* w = run.weights + i * run.weight_row + channel;
    for (int64_t j = 0; j < run.columns; ++j, x += run.column_step, w += run.channels) {
      const Vf weight = load(w);
#pragma GCC unroll 4
      for (int o = 0; o < kOutputs; ++o) {
        sums[o] = fma(to_float(widen_bytes(x + o * run.output_step) - run.x_zero), weight, sums[o]);
      }
    }
  }
  const Vi bias = run.bias == nullptr ? Vi{} : load(run.bias + channel);
  const Vf scale = run.scale_per_channel ? load(run.scale + channel) : set1(run.scale[0]);
  const Vf zero = set1(static_cast<float>(run.y_zero));
#pragma GCC unroll 4
  for (int o = 0; o < kOutputs; ++o) {
    requantize_vector(to_int(sums[o]) + bias, scale, zero, run.y_signed, kLanes, run.y,
                      (output + o) * run.channels + channel);
  }
}

template <class T>
void convolve_run(const DepthwiseBytesRun& run) {
  for (int64_t c = 0; c < run.channels; c += kLanes) {
    const int64_t channel = least(c, run.channels - kLanes);
    int64_t output = 0;
    for (; output + 4 <= run.outputs; output += 4) convolve_block<T, 4>(run, channel, output);
    for (; output < run.outputs; ++output) convolve_block<T, 1>(run, channel, output);
  }
}

void convolve(const DepthwiseBytesRun& run) { run.x_signed ? convolve_run<int8_t>(run) : convolve_run<uint8_t>(run); }

}  // namespace

extern const DepthwiseInt8Kernels kDepthwiseInt8;
const DepthwiseInt8Kernels kDepthwiseInt8 = {kLanes, convolve};

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
