// Depthwise convolution of bytes with channels last for one instruction set. Sums run in fp32, where they are exact,
// with the zero point of x as without it. Included as vec.h is.
#pragma once

#include "cpu/kernels/depthwise_int8_kernels.h"
#include "cpu/kernels/vec_bytes.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

/** What the zero point of x adds to the sums of a vector of channels. */
ORTOLAN_INLINE Vf sums_of_zeros(const DepthwiseBytesRun& run, int64_t channel) {
  Vf sum = {};
  if (run.x_zero == 0) return sum;
  for (int64_t i = 0; i < run.rows; ++i) {
    const float* w = run.weights + i * run.weight_row + channel;
    for (int64_t j = 0; j < run.columns; ++j, w += run.channels) sum = sum + load(w);
  }
  return sum * set1(static_cast<float>(run.x_zero));
}

template <int kOutputs>
ORTOLAN_INLINE void store_block(const DepthwiseBytesRun& run, int64_t channel, int64_t output,
                                const Vf (&sums)[kOutputs]) {
  const Vi bias = run.bias == nullptr ? Vi{} : load(run.bias + channel);
  const Vf scale = run.scale_per_channel ? load(run.scale + channel) : set1(run.scale[0]);
#if defined(__AVX512BW__)
  if constexpr (kOutputs == 4) {
    Vf scaled[4];
#pragma GCC unroll 4
    for (int o = 0; o < 4; ++o) scaled[o] = to_float(to_int(sums[o]) + bias) * scale;
    const __m512i zero = _mm512_set1_epi16(static_cast<int16_t>(run.y_zero));
    const __m512i bytes = round_to_bytes<4>(scaled, zero, run.y_signed);
    auto* y = reinterpret_cast<__m128i*>(run.y + output * run.channels + channel);
    const auto next = [&] { y = reinterpret_cast<__m128i*>(reinterpret_cast<uint8_t*>(y) + run.channels); };
    _mm_storeu_si128(y, _mm512_extracti32x4_epi32(bytes, 0)), next();
    _mm_storeu_si128(y, _mm512_extracti32x4_epi32(bytes, 1)), next();
    _mm_storeu_si128(y, _mm512_extracti32x4_epi32(bytes, 2)), next();
    _mm_storeu_si128(y, _mm512_extracti32x4_epi32(bytes, 3));
    return;
  }
#endif
  const Vf zero = set1(static_cast<float>(run.y_zero));
#pragma GCC unroll 4
  for (int o = 0; o < kOutputs; ++o) {
    requantize_vector(to_int(sums[o]) + bias, scale, zero, run.y_signed, kLanes, run.y,
                      (output + o) * run.channels + channel);
  }
}

/** One vector of channels of kOutputs neighbours. */
template <class T, int kOutputs>
ORTOLAN_INLINE void convolve_block(const DepthwiseBytesRun& run, int64_t channel, int64_t output, Vf zeros) {
  Vf sums[kOutputs] = {};
  const T* first = reinterpret_cast<const T*>(run.x) + output * run.output_step + channel;
  for (int64_t i = 0; i < run.rows; ++i) {
    const T* x = first + i * run.row_step;
    const float* w = run.weights + i * run.weight_row + channel;
    for (int64_t j = 0; j < run.columns; ++j, x += run.column_step, w += run.channels) {
      const Vf weight = load(w);
#pragma GCC unroll 4
      for (int o = 0; o < kOutputs; ++o) {
        sums[o] = fma(to_float(widen_bytes(x + o * run.output_step)), weight, sums[o]);
      }
    }
  }
#pragma GCC unroll 4
  for (int o = 0; o < kOutputs; ++o) sums[o] = sums[o] - zeros;
  store_block(run, channel, output, sums);
}

template <class T>
void convolve_run(const DepthwiseBytesRun& run) {
  for (int64_t c = 0; c < run.channels; c += kLanes) {
    const int64_t channel = least(c, run.channels - kLanes);
    const Vf zeros = sums_of_zeros(run, channel);
    int64_t output = 0;
    for (; output + 4 <= run.outputs; output += 4) convolve_block<T, 4>(run, channel, output, zeros);
    for (; output < run.outputs; ++output) convolve_block<T, 1>(run, channel, output, zeros);
  }
}

void convolve(const DepthwiseBytesRun& run) { run.x_signed ? convolve_run<int8_t>(run) : convolve_run<uint8_t>(run); }

}  // namespace

extern const DepthwiseInt8Kernels kDepthwiseInt8;
const DepthwiseInt8Kernels kDepthwiseInt8 = {kLanes, convolve};

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
