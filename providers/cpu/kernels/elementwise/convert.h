// Conversions of contiguous spans: half and bfloat16 to and from fp32, linear quantisation. One thread.
#pragma once

#include <cstdint>

namespace ortolan::cpu::kernels {

/** IEEE half bits to fp32, exact. `x` may be unaligned. */
void half_to_float(const uint16_t* x, float* y, int64_t n);
/** To the nearest half, halves to even; too large becomes infinity; NaN stays NaN. */
void float_to_half(const float* x, uint16_t* y, int64_t n);
/** bfloat16 bits to fp32, exact. `x` may be unaligned. */
void bfloat16_to_float(const uint16_t* x, float* y, int64_t n);
/** To the nearest bfloat16, halves to even; NaN stays NaN. */
void float_to_bfloat16(const float* x, uint16_t* y, int64_t n);

/**
 * y = saturate(round_half_even(x / scale) + zero_point). T: int8_t, uint8_t, int16_t, uint16_t. NaN gives the lowest
 * value of T.
 */
template <class T>
void quantize(const float* x, int64_t n, float scale, int32_t zero_point, T* y);

/** y = (x - zero_point) * scale. T: int8_t, uint8_t, int16_t, uint16_t, int32_t. */
template <class T>
void dequantize(const T* x, int64_t n, float scale, int32_t zero_point, float* y);

/** Smallest and largest of some values and 0; NaN does not count. */
struct ValueRange {
  float low = 0, high = 0;

  void include(const ValueRange& other) {
    low = other.low < low ? other.low : low;
    high = other.high > high ? other.high : high;
  }
};

/** Smallest and largest of x and 0, for dynamic quantisation; n may be 0. */
void min_max(const float* x, int64_t n, float* smallest, float* largest);

}  // namespace ortolan::cpu::kernels
