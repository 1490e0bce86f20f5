// Conversions of spans for one instruction set. Included as vec.h is.
#pragma once

#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/vectors/vec_bytes.h"
#include "cpu/kernels/vectors/vec_half.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

void half_to_float(const uint16_t* x, float* y, int64_t n) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(y + i, load_half(x + i));
  for (; i < n; ++i) y[i] = widen_half(set1i(read_unaligned(x + i)))[0];
}

void float_to_half(const float* x, uint16_t* y, int64_t n) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store_half(y + i, load(x + i));
  for (; i < n; ++i) y[i] = static_cast<uint16_t>(narrow_to_half(set1(read_unaligned(x + i)))[0]);
}

ORTOLAN_INLINE Vi quantize_vector(Vf x, Vf scale, Vf zero, Vf low, Vf high) {
  const Vf rounded = rint(x / scale) + zero;
  return to_int(vmin(high, vmax(select(rounded == rounded, rounded, low), low)));
}

template <class T, int kLow, int kHigh>
void quantize(const float* x, int64_t n, float scale, int32_t zero_point, T* y) {
  const Vf s = set1(scale), zero = set1(static_cast<float>(zero_point)), low = set1(kLow), high = set1(kHigh);
  int64_t i = 0;
#if defined(ORTOLAN_BYTE_VECTORS)
  const ByteVector zeros = zeros16(zero_point);
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    const Vf scaled[] = {load(x + i) / s, load(x + i + kLanes) / s, load(x + i + 2 * kLanes) / s,
                         load(x + i + 3 * kLanes) / s};
    store(reinterpret_cast<uint8_t*>(y) + i, round_to_bytes<4>(scaled, zeros, kLow < 0));
  }
#endif
  for (; i + kLanes <= n; i += kLanes) {
    store_low_bytes(reinterpret_cast<uint8_t*>(y) + i, quantize_vector(load(x + i), s, zero, low, high));
  }
  for (; i < n; ++i) y[i] = static_cast<T>(quantize_vector(set1(read_unaligned(x + i)), s, zero, low, high)[0]);
}

template <class T>
void dequantize(const T* x, int64_t n, float scale, int32_t zero_point, float* y) {
  const Vf s = set1(scale);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    store(y + i, to_float(widen_bytes(x + i) - zero_point) * s);
  }
  for (; i < n; ++i) y[i] = static_cast<float>(x[i] - zero_point) * scale;
}

/** The low 16 bits of each lane. */
template <class T>
ORTOLAN_INLINE void store_words(T* y, Vi v) {
#if defined(__AVX512F__)
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(y), _mm512_cvtepi32_epi16((__m512i)v));
#elif defined(__aarch64__)
  const uint16x4_t words = vmovn_u32((uint32x4_t)v);
  __builtin_memcpy(y, &words, sizeof words);
#else
  for (int i = 0; i < kLanes; ++i) y[i] = static_cast<T>(v[i]);
#endif
}

template <class T, int kLow, int kHigh>
void quantize_words(const float* x, int64_t n, float scale, int32_t zero_point, T* y) {
  const Vf s = set1(scale), zero = set1(static_cast<float>(zero_point)), low = set1(kLow), high = set1(kHigh);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store_words(y + i, quantize_vector(load(x + i), s, zero, low, high));
  for (; i < n; ++i) y[i] = static_cast<T>(quantize_vector(set1(read_unaligned(x + i)), s, zero, low, high)[0]);
}

/** As a loop that compilers vectorise; Wide holds x - zero_point. */
template <class T, class Wide>
void dequantize_plain(const T* __restrict x, int64_t n, float scale, int32_t zero_point, float* __restrict y) {
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(Wide{read_unaligned(x + i)} - zero_point) * scale;
}

ORTOLAN_INLINE Vi load_count(const int32_t* p, int64_t count) {
  return count == kLanes ? load(p) : bits(load_n(reinterpret_cast<const float*>(p), count));
}

void requantize_row(const int32_t* c, int64_t n, const int32_t* bias, const float* scale, bool per_column,
                    int32_t zero_point, bool is_signed, void* y) {
  const Vf zero = set1(static_cast<float>(zero_point)), one_scale = set1(scale[0]);
  int64_t i = 0;
#if defined(ORTOLAN_BYTE_VECTORS)
  const ByteVector zeros = zeros16(zero_point);
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    Vf scaled[4];
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) {
      const int64_t at = i + v * kLanes;
      const Vi sum = bias == nullptr ? load(c + at) : load(c + at) + load(bias + at);
      scaled[v] = to_float(sum) * (per_column ? load(scale + at) : one_scale);
    }
    store(static_cast<uint8_t*>(y) + i, round_to_bytes<4>(scaled, zeros, is_signed));
  }
#endif
  for (; i < n; i += kLanes) {
    const int64_t count = least(kLanes, n - i);
    Vi sum = load_count(c + i, count);
    if (bias != nullptr) sum = sum + load_count(bias + i, count);
    requantize_vector(sum, per_column ? load_n(scale + i, count) : one_scale, zero, is_signed, count, y, i);
  }
}

// Sums of one channel at a row of positions.
struct ChannelRow {
  const int32_t* c;
  const int32_t* column_sum;
  int32_t add, times;  // times is 0 where column_sum is not to be read
  Vf scale;

  __attribute__((always_inline)) Vi sums(int64_t j, int64_t count) const {
    const Vi sum = load_count(c + j, count) + add;
    return times == 0 ? sum : sum - load_count(column_sum + j, count) * times;
  }
};

#if defined(ORTOLAN_BYTE_VECTORS)
// `count` bytes from as many sums, in kVectors vectors.
template <int kVectors>
ORTOLAN_INLINE void requantize_vectors(const ChannelRow& row, int64_t j, int64_t count, ByteVector zero, bool is_signed,
                                       uint8_t* y) {
  Vf scaled[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    scaled[v] = to_float(row.sums(j + v * kLanes, least(kLanes, count - v * kLanes))) * row.scale;
  }
  store_first(y + j, round_to_bytes<kVectors>(scaled, zero, is_signed), count);
}

ORTOLAN_INLINE void requantize_channel(const ChannelRow& row, int64_t columns, int32_t zero_point, bool is_signed,
                                       uint8_t* y) {
  const ByteVector zero = zeros16(zero_point);
  int64_t j = 0;
  for (; j + 4 * kLanes <= columns; j += 4 * kLanes) requantize_vectors<4>(row, j, 4 * kLanes, zero, is_signed, y);
  const int64_t left = columns - j;
  if (left > 3 * kLanes) return requantize_vectors<4>(row, j, left, zero, is_signed, y);
  if (left > 2 * kLanes) return requantize_vectors<3>(row, j, left, zero, is_signed, y);
  if (left > kLanes) return requantize_vectors<2>(row, j, left, zero, is_signed, y);
  if (left > 0) requantize_vectors<1>(row, j, left, zero, is_signed, y);
}
#else
ORTOLAN_INLINE void requantize_channel(const ChannelRow& row, int64_t columns, int32_t zero_point, bool is_signed,
                                       uint8_t* y) {
  const Vf zero = set1(static_cast<float>(zero_point));
  for (int64_t j = 0; j < columns; j += kLanes) {
    const int64_t count = least(kLanes, columns - j);
    requantize_vector(row.sums(j, count), row.scale, zero, is_signed, count, y, j);
  }
}
#endif

void requantize_block(const ChannelSums& sums, const float* scale, bool scale_per_row, int32_t zero_point,
                      bool is_signed, void* y, int64_t ldy) {
  for (int64_t i = 0; i < sums.rows; ++i) {
    const int32_t times = sums.column_sum == nullptr ? 0 : sums.row_factor[i];
    const ChannelRow row{sums.c + i * sums.ldc, sums.column_sum, sums.row_add[i], times,
                         set1(scale[scale_per_row ? i : 0])};
    requantize_channel(row, sums.columns, zero_point, is_signed, static_cast<uint8_t*>(y) + i * ldy);
  }
}

void min_max(const float* x, int64_t n, float* smallest, float* largest) {
  constexpr int kChains = 4;
  Vf lows[kChains] = {}, highs[kChains] = {};
  int64_t i = 0;
  for (; i + kChains * kLanes <= n; i += kChains * kLanes) {
#pragma GCC unroll 4
    for (int chain = 0; chain < kChains; ++chain) {
      const Vf v = load(x + i + chain * kLanes);
      lows[chain] = vmin(v, lows[chain]);
      highs[chain] = vmax(v, highs[chain]);
    }
  }
  Vf low = vmin(vmin(lows[0], lows[1]), vmin(lows[2], lows[3]));
  Vf high = vmax(vmax(highs[0], highs[1]), vmax(highs[2], highs[3]));
  for (; i < n; i += kLanes) {
    const Vf v = load_n(x + i, least(kLanes, n - i));
    low = vmin(v, low);
    high = vmax(v, high);
  }
  *smallest = low[0];
  *largest = high[0];
  for (int i = 1; i < kLanes; ++i) {
    *smallest = low[i] < *smallest ? low[i] : *smallest;
    *largest = high[i] > *largest ? high[i] : *largest;
  }
}

}  // namespace

extern const ConvertKernels kConvert;
const ConvertKernels kConvert = {
    requantize_row,
    requantize_block,
    half_to_float,
    float_to_half,
    quantize<uint8_t, 0, 255>,
    quantize<int8_t, -128, 127>,
    dequantize<uint8_t>,
    dequantize<int8_t>,
    quantize_words<uint16_t, 0, 65535>,
    quantize_words<int16_t, -32768, 32767>,
    dequantize_plain<uint16_t, int32_t>,
    dequantize_plain<int16_t, int32_t>,
    dequantize_plain<int32_t, int64_t>,
    min_max,
};

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
