// Conversions of spans: by the instruction set in use where it has its own, else plain loops.
#include "cpu/kernels/elementwise/convert.h"

#include <bit>

#include "base/threads/polled_loop.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/vectors/unaligned.h"

namespace ortolan::cpu::kernels {

void half_to_float(const uint16_t* x, float* y, int64_t n) {
  const auto convert = kernels().convert->half_to_float;
  base::polled_loop(n, [&](int64_t begin, int64_t end) { convert(x + begin, y + begin, end - begin); });
}

void float_to_half(const float* x, uint16_t* y, int64_t n) {
  const auto convert = kernels().convert->float_to_half;
  base::polled_loop(n, [&](int64_t begin, int64_t end) { convert(x + begin, y + begin, end - begin); });
}

void bfloat16_to_float(const uint16_t* x, float* y, int64_t n) {
  base::polled_loop(n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i] = std::bit_cast<float>(uint32_t{read_unaligned(x + i)} << 16);
  });
}

void float_to_bfloat16(const float* x, uint16_t* y, int64_t n) {
  base::polled_loop(n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const uint32_t bits = std::bit_cast<uint32_t>(read_unaligned(x + i));
      const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
      const bool nan = (bits & 0x7fffffff) > 0x7f800000;
      y[i] = static_cast<uint16_t>(nan ? (bits >> 16) | 0x40 : rounded);
    }
  });
}

template <class T>
void quantize(const float* x, int64_t n, float scale, int32_t zero_point, T* y) {
  const ConvertKernels& convert = *kernels().convert;
  if constexpr (std::is_same_v<T, uint8_t>) convert.quantize_u8(x, n, scale, zero_point, y);
  if constexpr (std::is_same_v<T, int8_t>) convert.quantize_s8(x, n, scale, zero_point, y);
  if constexpr (std::is_same_v<T, uint16_t>) convert.quantize_u16(x, n, scale, zero_point, y);
  if constexpr (std::is_same_v<T, int16_t>) convert.quantize_s16(x, n, scale, zero_point, y);
}

template <class T>
void dequantize(const T* x, int64_t n, float scale, int32_t zero_point, float* y) {
  const ConvertKernels& convert = *kernels().convert;
  if constexpr (std::is_same_v<T, uint8_t>) convert.dequantize_u8(x, n, scale, zero_point, y);
  if constexpr (std::is_same_v<T, int8_t>) convert.dequantize_s8(x, n, scale, zero_point, y);
  if constexpr (std::is_same_v<T, uint16_t>) convert.dequantize_u16(x, n, scale, zero_point, y);
  if constexpr (std::is_same_v<T, int16_t>) convert.dequantize_s16(x, n, scale, zero_point, y);
  if constexpr (std::is_same_v<T, int32_t>) convert.dequantize_s32(x, n, scale, zero_point, y);
}

template void quantize(const float*, int64_t, float, int32_t, int8_t*);
template void quantize(const float*, int64_t, float, int32_t, uint8_t*);
template void quantize(const float*, int64_t, float, int32_t, int16_t*);
template void quantize(const float*, int64_t, float, int32_t, uint16_t*);
template void dequantize(const int8_t*, int64_t, float, int32_t, float*);
template void dequantize(const uint8_t*, int64_t, float, int32_t, float*);
template void dequantize(const int16_t*, int64_t, float, int32_t, float*);
template void dequantize(const uint16_t*, int64_t, float, int32_t, float*);
template void dequantize(const int32_t*, int64_t, float, int32_t, float*);

void min_max(const float* x, int64_t n, float* smallest, float* largest) {
  kernels().convert->min_max(x, n, smallest, largest);
}

}  // namespace ortolan::cpu::kernels
