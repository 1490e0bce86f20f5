// Gathering of input panels and depthwise planes for one instruction set. Included as vec.h is.
#pragma once

#include "cpu/kernels/convolution/conv_f32_kernels.h"
#include "cpu/kernels/convolution/depthwise_f32_body.h"
#include "cpu/kernels/vectors/vec_lanes.h"
#include "cpu/kernels/vectors/vec_transpose.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

// Up to kLanes outputs of one output row, from out[2] on, of `channels` planes.
struct Piece {
  const ConvGeometry& g;
  const float* x;
  int64_t channels;
  const int64_t* out;
  int64_t count;
  int64_t width;  // floats from one row of the panel to the next
};

// What the taps of kColumns neighbouring kernel columns meet, for all rows of the kernel; load_row(p, v) reads the
// piece's inputs from p on.
template <int kColumns, class LoadRow>
ORTOLAN_INLINE void gather_columns(const Piece& piece, int64_t from_w, float* to, LoadRow load_row) {
  const ConvGeometry& g = piece.g;
  const int64_t plane = g.in[0] * g.in[1] * g.in[2], tap_step = g.kernel[2] * piece.width;
  const int64_t channel_step = g.kernel[0] * g.kernel[1] * tap_step;
  const int64_t ahead = piece.width * g.stride[2];
  const auto store_columns = [&](int64_t c, const Vf(&v)[kColumns]) __attribute__((always_inline)) {
    for (int i = 0; i < kColumns; ++i) store_count(to + c * channel_step + i * piece.width, piece.count, v[i]);
  };
  int64_t d = piece.out[0] * g.stride[0] - g.pad_begin[0];
  for (int64_t kd = 0; kd < g.kernel[0]; ++kd, d += g.dilation[0]) {
    int64_t h = piece.out[1] * g.stride[1] - g.pad_begin[1];
    for (int64_t kh = 0; kh < g.kernel[1]; ++kh, h += g.dilation[1], to += tap_step) {
      if (d < 0 || d >= g.in[0] || h < 0 || h >= g.in[1]) {
        for (int64_t c = 0; c < piece.channels; ++c) store_columns(c, {});
        continue;
      }
      const float* from = piece.x + (d * g.in[1] + h) * g.in[2] + from_w;
      for (int64_t c = 0; c < piece.channels; ++c) {
        __builtin_prefetch(from + c * plane + ahead);
        __builtin_prefetch(from + c * plane + ahead + kLanes);
        Vf v[kColumns];
        load_row(from + c * plane, v);
        store_columns(c, v);
      }
    }
  }
}

ORTOLAN_INLINE Vf load_strided(const float* p, int64_t stride, int64_t low, int64_t high, int64_t count) {
  Vf v = {};
  for (int64_t i = 0, at = 0; i < count; ++i, at += stride) v[i] = at >= low && at < high ? p[at] : 0;
  return v;
}

// The kernel columns from kw on that one pass gathers, with the inputs of the first one at w; how many they are.
ORTOLAN_INLINE int64_t gather_some(const Piece& piece, int64_t kw, int64_t w, float* to) {
  const ConvGeometry& g = piece.g;
  const int64_t stride = g.stride[2], count = piece.count;
  const int64_t low = most(0, -w), high = least(g.in[2] - w, stride * count);
  const LaneRange first = lane_range(clamp_lane(low), most(clamp_lane(low), clamp_lane(high)));
  if (stride == 1) {
    gather_columns<1>(piece, w, to, [first](const float* p, Vf(&v)[1]) { v[0] = load_range(p, first); });
    return 1;
  }
  if (stride != 2) {
    gather_columns<1>(piece, w, to,
                      [=](const float* p, Vf(&v)[1]) { v[0] = load_strided(p, stride, low, high, count); });
    return 1;
  }
  const int64_t begin = clamp_lane(low - kLanes);
  const LaneRange second = lane_range(begin, most(begin, clamp_lane(high - kLanes)));
  const auto load_pair = [ first, second ](const float* p, Vf& even, Vf& odd) __attribute__((always_inline)) {
    const Vf a = load_range(p, first), b = load_range(p + kLanes, second);
    even = even_lanes(a, b);
    odd = odd_lanes(a, b);
  };
  if (g.dilation[2] == 1 && kw + 1 < g.kernel[2]) {
    gather_columns<2>(piece, w, to, [load_pair](const float* p, Vf(&v)[2]) { load_pair(p, v[0], v[1]); });
    return 2;
  }
  gather_columns<1>(piece, w, to, [load_pair](const float* p, Vf(&v)[1]) {
    Vf odd;
    load_pair(p, v[0], odd);
  });
  return 1;
}

constexpr int64_t kQuad = 4, kFarthest = 16;  // kernel columns at once; between outputs

/** The same for kQuad kernel columns of outputs far apart. */
ORTOLAN_INLINE void gather_quad(const Piece& piece, int64_t w, float* to) {
  const int64_t stride = piece.g.stride[2], reach = (kLanes - 1) * stride + kQuad, in_w = piece.g.in[2];
  if (w >= 0 && w + reach <= in_w) {
    gather_columns<kQuad>(piece, w, to, [=](const float* p, Vf(&v)[kQuad]) { load_transposed(p, stride, v); });
    return;
  }
  constexpr int64_t most_parts = ((kLanes - 1) * kFarthest + kQuad - 1) / kLanes + 1;
  LaneRange ranges[most_parts];
  for (int64_t i = 0; i < most_parts; ++i) {
    const int64_t low = clamp_lane(-w - i * kLanes);
    ranges[i] = lane_range(low, most(low, clamp_lane(in_w - w - i * kLanes)));
  }
  float line[most_parts * kLanes];
  gather_columns<kQuad>(piece, w, to, [&](const float* p, Vf(&v)[kQuad]) {
    for (int64_t i = 0; i * kLanes < reach; ++i) store(line + i * kLanes, load_range(p + i * kLanes, ranges[i]));
    load_transposed(line, stride, v);
  });
}

ORTOLAN_INLINE void gather_piece(const Piece& piece, float* to) {
  const ConvGeometry& g = piece.g;
  const int64_t begin = piece.out[2] * g.stride[2] - g.pad_begin[2];
  if (g.stride[2] > 2 && g.stride[2] <= kFarthest && g.dilation[2] == 1 && g.kernel[2] >= kQuad) {
    for (int64_t kw = 0; kw < g.kernel[2]; kw += kQuad) {
      const int64_t at = least(kw, g.kernel[2] - kQuad);
      gather_quad(piece, begin + at, to + at * piece.width);
    }
    return;
  }
  for (int64_t kw = 0; kw < g.kernel[2];) {
    kw += gather_some(piece, kw, begin + kw * g.dilation[2], to + kw * piece.width);
  }
}

void gather_panel(const ConvGeometry& g, const float* x, int64_t channels, const ColumnRun* runs, int64_t run_count,
                  int64_t columns, int64_t width, float* panel) {
  for (int64_t r = 0; r < run_count; ++r) {
    const ColumnRun& run = runs[r];
    for (int64_t i = 0; i < run.count; i += kLanes) {
      const int64_t out[3] = {run.out[0], run.out[1], run.out[2] + i};
      gather_piece({g, x, channels, out, least(kLanes, run.count - i), width}, panel + run.at + i);
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
