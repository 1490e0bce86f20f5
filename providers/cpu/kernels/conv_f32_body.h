// Gathering of input panels and depthwise planes for one instruction set. Included as vec.h is.
#pragma once

#include "cpu/kernels/conv_f32_kernels.h"
#include "cpu/kernels/vec.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

/** Lanes [low, high) of p; the others are 0 and not read. */
#if defined(__AVX512F__)
typedef __mmask16 LaneRange;
ORTOLAN_INLINE LaneRange lane_range(int64_t low, int64_t high) {
  return static_cast<__mmask16>(((1u << high) - 1) & ~((1u << low) - 1));
}
ORTOLAN_INLINE Vf load_range(const float* p, LaneRange range) { return (Vf)_mm512_maskz_loadu_ps(range, p); }
ORTOLAN_INLINE Vf even_lanes(Vf a, Vf b) {
  const Vi even = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30};
  return __builtin_shuffle(a, b, even);
}
#elif defined(__AVX2__)
typedef __m256i LaneRange;
ORTOLAN_INLINE LaneRange lane_range(int64_t low, int64_t high) {
  return _mm256_andnot_si256(first_lanes(low), first_lanes(high));
}
ORTOLAN_INLINE Vf load_range(const float* p, LaneRange range) { return (Vf)_mm256_maskload_ps(p, range); }
ORTOLAN_INLINE Vf even_lanes(Vf a, Vf b) { return __builtin_shuffle(a, b, Vi{0, 2, 4, 6, 8, 10, 12, 14}); }
#else
struct LaneRange {
  int64_t low, high;
};
ORTOLAN_INLINE LaneRange lane_range(int64_t low, int64_t high) { return {low, high}; }
ORTOLAN_INLINE Vf load_range(const float* p, LaneRange range) {
  if (range.low == 0 && range.high == kLanes) return load(p);
  Vf v = {};
  for (int64_t i = range.low; i < range.high; ++i) v[i] = p[i];
  return v;
}
ORTOLAN_INLINE Vf even_lanes(Vf a, Vf b) { return __builtin_shuffle(a, b, Vi{0, 2, 4, 6}); }
#endif

ORTOLAN_INLINE int64_t clamp_lane(int64_t lane) { return most(0, least(lane, kLanes)); }

ORTOLAN_INLINE void store_count(float* p, int64_t count, Vf v) {
  if (count == kLanes) {
    store(p, v);
  } else {
    store_n(p, count, v);
  }
}

// One tap row of all channels: `count` outputs whose inputs begin at `from` (may lie outside) and step by `stride`;
// only inputs at [from + low, from + high) exist.
struct TapRow {
  const float* x;
  int64_t plane;  // floats from one channel to the next
  int64_t from;
  int64_t low, high;
  int64_t count, stride;
};

ORTOLAN_INLINE void gather_step1(const TapRow& t, int64_t channels, float* to, int64_t to_step) {
  const LaneRange range = lane_range(clamp_lane(t.low), clamp_lane(t.high));
  const float* from = t.x + t.from;
  for (int64_t c = 0; c < channels; ++c) store_count(to + c * to_step, t.count, load_range(from + c * t.plane, range));
}

ORTOLAN_INLINE void gather_step2(const TapRow& t, int64_t channels, float* to, int64_t to_step) {
  const LaneRange first = lane_range(clamp_lane(t.low), clamp_lane(t.high));
  const LaneRange second = lane_range(clamp_lane(t.low - kLanes), clamp_lane(t.high - kLanes));
  const float* from = t.x + t.from;
  for (int64_t c = 0; c < channels; ++c) {
    const float* p = from + c * t.plane;
    store_count(to + c * to_step, t.count, even_lanes(load_range(p, first), load_range(p + kLanes, second)));
  }
}

ORTOLAN_INLINE void gather_any_step(const TapRow& t, int64_t channels, float* to, int64_t to_step) {
  for (int64_t c = 0; c < channels; ++c) {
    const float* p = t.x + t.from + c * t.plane;
    for (int64_t i = 0; i < t.count; ++i) {
      const int64_t at = i * t.stride;
      to[c * to_step + i] = at >= t.low && at < t.high ? p[at] : 0;
    }
  }
}

ORTOLAN_INLINE void gather_zeros(int64_t count, int64_t channels, float* to, int64_t to_step) {
  for (int64_t c = 0; c < channels; ++c) store_count(to + c * to_step, count, Vf{});
}

struct TapPlace {
  int64_t d, h, w;
  bool inside;
};

ORTOLAN_INLINE TapPlace place(const ConvGeometry& g, const int64_t* out, int64_t tap) {
  const int64_t kw = tap % g.kernel[2], kh = tap / g.kernel[2] % g.kernel[1], kd = tap / (g.kernel[2] * g.kernel[1]);
  TapPlace p;
  p.d = out[0] * g.stride[0] - g.pad_begin[0] + kd * g.dilation[0];
  p.h = out[1] * g.stride[1] - g.pad_begin[1] + kh * g.dilation[1];
  p.w = out[2] * g.stride[2] - g.pad_begin[2] + kw * g.dilation[2];
  p.inside = p.d >= 0 && p.d < g.in[0] && p.h >= 0 && p.h < g.in[1];
  return p;
}

// Up to kLanes outputs of one output row, all taps and channels.
ORTOLAN_INLINE void gather_piece(const ConvGeometry& g, const float* x, int64_t channels, const int64_t* out,
                                 int64_t count, int64_t width, float* to) {
  const int64_t taps = g.kernel[0] * g.kernel[1] * g.kernel[2];
  TapRow row;
  row.x = x;
  row.plane = g.in[0] * g.in[1] * g.in[2];
  row.count = count;
  row.stride = g.stride[2];
  for (int64_t tap = 0; tap < taps; ++tap) {
    const TapPlace p = place(g, out, tap);
    float* tap_to = to + tap * width;
    const int64_t step = taps * width;
    if (!p.inside) {
      gather_zeros(count, channels, tap_to, step);
      continue;
    }
    row.from = (p.d * g.in[1] + p.h) * g.in[2] + p.w;
    row.low = most(0, -p.w);
    row.high = g.in[2] - p.w;
    if (row.stride == 1) {
      row.high = least(row.high, count);
      gather_step1(row, channels, tap_to, step);
    } else if (row.stride == 2) {
      row.high = least(row.high, 2 * count);
      gather_step2(row, channels, tap_to, step);
    } else {
      gather_any_step(row, channels, tap_to, step);
    }
  }
}

void gather_panel(const ConvGeometry& g, const float* x, int64_t channels, const ColumnRun* runs, int64_t run_count,
                  int64_t columns, int64_t width, float* panel) {
  for (int64_t r = 0; r < run_count; ++r) {
    const ColumnRun& run = runs[r];
    for (int64_t i = 0; i < run.count; i += kLanes) {
      const int64_t out[3] = {run.out[0], run.out[1], run.out[2] + i};
      gather_piece(g, x, channels, out, least(kLanes, run.count - i), width, panel + run.at + i);
    }
  }
  if (columns == width) return;
  const int64_t rows = channels * g.kernel[0] * g.kernel[1] * g.kernel[2];
  for (int64_t k = 0; k < rows; ++k) {
    for (int64_t c = columns; c < width; ++c) panel[k * width + c] = 0;
  }
}

template <int kStride>
ORTOLAN_INLINE Vf load_step(const float* p, int64_t count, int64_t stride) {
  if constexpr (kStride == 1) return count == kLanes ? load(p) : load_n(p, count);
  if constexpr (kStride == 2) {
    const int64_t reach = 2 * count - 1;
    if (reach > kLanes) return even_lanes(load(p), load_n(p + kLanes, reach - kLanes));
    return even_lanes(load_n(p, reach), Vf{});
  }
  Vf v = {};
  for (int64_t i = 0; i < count; ++i) v[i] = p[i * stride];
  return v;
}

// kRows rows of kLanes outputs; the taps' loops run with known bounds where kKernel is not 0.
template <int kRows, int kKernel, int kStride>
ORTOLAN_INLINE void depthwise_piece(const DepthwisePlane& p, int64_t row, int64_t column, int64_t count) {
  const int64_t kernel_h = kKernel != 0 ? kKernel : p.kernel_h, kernel_w = kKernel != 0 ? kKernel : p.kernel_w;
  const int64_t stride = kStride != 0 ? kStride : p.stride_w;
  const float* x = p.x + row * p.stride_h * p.x_stride + column * stride;
  Vf sum[kRows];
  for (int r = 0; r < kRows; ++r) sum[r] = set1(p.bias);
  for (int64_t h = 0; h < kernel_h; ++h) {
    for (int64_t w = 0; w < kernel_w; ++w) {
      const Vf tap = set1(p.taps[h * kernel_w + w]);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        const float* at = x + (r * p.stride_h + h * p.dilation_h) * p.x_stride + w * p.dilation_w;
        sum[r] = fma(tap, load_step<kStride>(at, count, stride), sum[r]);
      }
    }
  }
  const Vf low = set1(p.low), high = set1(p.high);
  for (int r = 0; r < kRows; ++r) {
    const int64_t at = (row + r) * p.out_w + column;
    if (p.residual != nullptr) sum[r] = sum[r] + load_n(p.residual + at, count);
    store_count(p.y + at, count, vmin(high, vmax(low, sum[r])));
  }
}

template <int kKernel, int kStride>
void depthwise_plane(const DepthwisePlane& p) {
  int64_t row = 0;
  for (; row + 4 <= p.out_h; row += 4) {
    int64_t c = 0;
    for (; c + kLanes <= p.out_w; c += kLanes) depthwise_piece<4, kKernel, kStride>(p, row, c, kLanes);
    if (c < p.out_w) depthwise_piece<4, kKernel, kStride>(p, row, c, p.out_w - c);
  }
  for (; row < p.out_h; ++row) {
    for (int64_t c = 0; c < p.out_w; c += kLanes) {
      depthwise_piece<1, kKernel, kStride>(p, row, c, least(kLanes, p.out_w - c));
    }
  }
}

template <int kStride>
void depthwise_of_kernel(const DepthwisePlane& p) {
  if (p.kernel_h == 3 && p.kernel_w == 3) return depthwise_plane<3, kStride>(p);
  if (p.kernel_h == 5 && p.kernel_w == 5) return depthwise_plane<5, kStride>(p);
  depthwise_plane<0, kStride>(p);
}

void depthwise(const DepthwisePlane& p) {
  if (p.stride_w == 1) return depthwise_of_kernel<1>(p);
  if (p.stride_w == 2) return depthwise_of_kernel<2>(p);
  depthwise_plane<0, 0>(p);
}

}  // namespace

extern const ConvF32Kernels kConvF32;
const ConvF32Kernels kConvF32 = {gather_panel, depthwise};

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
