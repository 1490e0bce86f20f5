// Gathering of input panels and depthwise planes for one instruction set. Included as vec.h is.
#pragma once

#include "cpu/kernels/conv_f32_kernels.h"
#include "cpu/kernels/depthwise_f32_body.h"
#include "cpu/kernels/vec_lanes.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

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

// kVectors vectors of sums from x on; kTaps is the number of taps where it is known beforehand.
template <int kVectors, int kTaps>
ORTOLAN_INLINE void sum_taps(const DepthwisePlane& p, const float* x, Vf (&sum)[kVectors]) {
  const int64_t taps = kTaps != 0 ? kTaps : p.tap_count;
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) sum[v] = set1(p.bias);
  for (int64_t t = 0; t < taps; ++t) {
    const Vf tap = set1(p.taps[t]);
    const float* at = x + p.offsets[t];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sum[v] = fma(tap, load(at + v * kLanes), sum[v]);
  }
}

// A run of `count` positions from x on, to y; stores only whole positions, loads may reach past them.
template <int kTaps, bool kExact>
ORTOLAN_INLINE void sum_run(const DepthwisePlane& p, const float* x, int64_t count, const float* residual, float* y) {
  const Vf low = set1(p.low), high = set1(p.high);
  int64_t i = 0;
  for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
    Vf sum[4];
    sum_taps<4, kTaps>(p, x + i, sum);
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) {
      if (residual != nullptr) sum[v] = sum[v] + load(residual + i + v * kLanes);
      store(y + i + v * kLanes, vmin(high, vmax(low, sum[v])));
    }
  }
  for (; i < count; i += kLanes) {
    Vf sum[1];
    sum_taps<1, kTaps>(p, x + i, sum);
    const int64_t left = kExact ? least(kLanes, count - i) : kLanes;
    if (residual != nullptr) sum[0] = sum[0] + load_n(residual + i, left);
    store_count(y + i, left, vmin(high, vmax(low, sum[0])));
  }
}

template <int kTaps>
void depthwise_rows(const DepthwisePlane& p) {
  for (int64_t h = 0; h < p.out_h; ++h) {
    const float* residual = p.residual == nullptr ? nullptr : p.residual + h * p.out_w;
    sum_run<kTaps, true>(p, p.x + h * p.row, p.out_w, residual, p.y + h * p.out_w);
  }
}

// Narrow planes: all rows as one run, the gaps between them included; then rows move to their places.
template <int kTaps>
void depthwise_narrow(const DepthwisePlane& p) {
  DepthwisePlane raw = p;
  if (p.residual != nullptr) raw.low = -__builtin_inff(), raw.high = __builtin_inff();
  sum_run<kTaps, false>(raw, p.x, (p.out_h - 1) * p.row + p.out_w, nullptr, p.scratch);
  const Vf low = set1(p.low), high = set1(p.high);
  for (int64_t h = 0; h < p.out_h; ++h) {
    for (int64_t w = 0; w < p.out_w; w += kLanes) {
      const int64_t count = least(kLanes, p.out_w - w), at = h * p.out_w + w;
      Vf v = load(p.scratch + h * p.row + w);
      if (p.residual != nullptr) v = vmin(high, vmax(low, v + load_n(p.residual + at, count)));
      store_count(p.y + at, count, v);
    }
  }
}

template <int kTaps>
void depthwise_of_taps(const DepthwisePlane& p) {
  if (p.out_w >= 3 * kLanes) return depthwise_rows<kTaps>(p);
  depthwise_narrow<kTaps>(p);
}

void depthwise(const DepthwisePlane& p) {
  if (p.tap_count == 9) return depthwise_of_taps<9>(p);
  if (p.tap_count == 25) return depthwise_of_taps<25>(p);
  depthwise_of_taps<0>(p);
}

ORTOLAN_INLINE void copy_row(const float* x, int64_t count, float* to) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(to + i, load(x + i));
  if (i < count) store_n(to + i, count - i, load_n(x + i, count - i));
}

ORTOLAN_INLINE void split_row(const float* x, int64_t count, float* even, float* odd) {
  int64_t i = 0;
  for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
    const Vf a = load(x + i), b = load(x + i + kLanes);
    store(even + i / 2, even_lanes(a, b));
    store(odd + i / 2, odd_lanes(a, b));
  }
  if (i == count) return;
  const int64_t left = count - i;
  const Vf a = load_n(x + i, least(left, kLanes)), b = load_n(x + i + kLanes, most(0, left - kLanes));
  store_n(even + i / 2, (left + 1) / 2, even_lanes(a, b));
  store_n(odd + i / 2, left / 2, odd_lanes(a, b));
}

void spread_plane(const ConvGeometry& g, const float* x, int64_t plane, int64_t row, float* to) {
  const int64_t step_h = g.stride[1], step_w = g.stride[2], pad_h = g.pad_begin[1], pad_w = g.pad_begin[2];
  const int64_t width = g.in[2];
  const auto phase = [=](int64_t w) { return (pad_w + w) % step_w * plane + (pad_w + w) / step_w; };
  const int64_t first = phase(0), second = phase(1), phase_rows = step_w * plane;
  int64_t h_phase = pad_h % step_h, h_row = pad_h / step_h;
  for (int64_t h = 0; h < g.in[1]; ++h, x += width) {
    float* line = to + h_phase * phase_rows + h_row * row;
    if (step_w == 1) {
      copy_row(x, width, line + first);
    } else if (step_w == 2) {
      split_row(x, width, line + first, line + second);
    } else {
      for (int64_t w = 0; w < width; ++w) line[phase(w)] = x[w];
    }
    if (++h_phase == step_h) {
      h_phase = 0;
      ++h_row;
    }
  }
}

}  // namespace

extern const ConvF32Kernels kConvF32;
const ConvF32Kernels kConvF32 = {gather_panel, depthwise, spread_plane, direct_depthwise};

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
