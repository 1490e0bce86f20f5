// Depthwise planes of square 3x3 and 5x5 weights, straight from the input, for one instruction set. Included as vec.h
// is.
#pragma once

#include "cpu/kernels/conv_f32_kernels.h"
#include "cpu/kernels/vec_lanes.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

// Which lanes of the loads of one block lie inside an input row: kStep loads for each of the shifts.
template <int kStep, int kSize>
struct ShiftRanges {
  LaneRange at[kSize][kStep];

  ShiftRanges(int64_t from, int64_t in_w) {
    for (int k = 0; k < kSize; ++k) {
      for (int s = 0; s < kStep; ++s) {
        const int64_t first = from + k + s * kLanes, low = clamp_lane(-first);
        at[k][s] = lane_range(low, most(low, clamp_lane(in_w - first)));
      }
    }
  }
};

// v[k] holds what column k of the weights meets: elements k, k + kStep, ... of the row from `at` on.
template <int kStep, int kSize, class Load>
ORTOLAN_INLINE void load_shifts(const float* at, Load load_at, Vf (&v)[kSize]) {
  if constexpr (kStep == 1) {
#pragma GCC unroll 5
    for (int k = 0; k < kSize; ++k) v[k] = load_at(at + k, k, 0);
  } else {
#pragma GCC unroll 5
    for (int k = 0; k < kSize; k += 2) {
      const Vf a = load_at(at + k, k, 0), b = load_at(at + k + kLanes, k, 1);
      v[k] = even_lanes(a, b);
      if (k + 1 < kSize) v[k + 1] = odd_lanes(a, b);
    }
  }
}

// Sums of kRows output rows, a vector each; rows[i] + from is where input row i of the block begins.
template <int kStep, int kSize, int kRows, class Load>
ORTOLAN_INLINE void sum_rows(const float* const* rows, int64_t from, const Vf (&taps)[kSize * kSize], Load load_at,
                             Vf (&sum)[kRows]) {
#pragma GCC unroll 16
  for (int i = 0; i < (kRows - 1) * kStep + kSize; ++i) {
    Vf v[kSize];
    load_shifts<kStep, kSize>(rows[i] + from, load_at, v);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const int tap_row = i - r * kStep;
      if (tap_row < 0 || tap_row >= kSize) continue;
#pragma GCC unroll 5
      for (int k = 0; k < kSize; ++k) sum[r] = fma(taps[tap_row * kSize + k], v[k], sum[r]);
    }
  }
}

template <int kRows>
ORTOLAN_INLINE void finish_rows(const DirectPlane& p, int64_t at, int64_t count, const Vf (&sum)[kRows]) {
  const Vf low = set1(p.low), high = set1(p.high);
  float* y = p.y + at;
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    Vf v = sum[r];
    if (p.residual != nullptr) v = v + load_n(p.residual + at + r * p.out_w, count);
    store_n(y + r * p.out_w, count, vmin(high, vmax(low, v)));
  }
}

// Output rows [h, h + kRows) of the columns from w on.
template <int kStep, int kSize, int kRows, class Load>
ORTOLAN_INLINE void direct_block(const DirectPlane& p, int64_t h, int64_t w, const Vf (&taps)[kSize * kSize],
                                 Load load_at) {
  constexpr int kInRows = (kRows - 1) * kStep + kSize;
  const float* rows[kInRows];
  const int64_t first = h * kStep - p.pad_h;
#pragma GCC unroll 16
  for (int i = 0; i < kInRows; ++i) {
    rows[i] = first + i >= 0 && first + i < p.in_h ? p.x + (first + i) * p.in_w : p.zeros;
  }
  Vf sum[kRows];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) sum[r] = set1(p.bias);
  sum_rows<kStep, kSize, kRows>(rows, w * kStep - p.pad_w, taps, load_at, sum);
  finish_rows(p, h * p.out_w + w, least(kLanes, p.out_w - w), sum);
}

// All output rows of the columns from w on.
template <int kStep, int kSize, class Load>
ORTOLAN_INLINE void direct_columns(const DirectPlane& p, int64_t w, const Vf (&taps)[kSize * kSize], Load load_at) {
  int64_t h = 0;
  for (; h + 4 <= p.out_h; h += 4) direct_block<kStep, kSize, 4>(p, h, w, taps, load_at);
  if (h + 2 <= p.out_h) {
    direct_block<kStep, kSize, 2>(p, h, w, taps, load_at);
    h += 2;
  }
  if (h < p.out_h) direct_block<kStep, kSize, 1>(p, h, w, taps, load_at);
}

template <int kStep, int kSize>
void depthwise_direct(const DirectPlane& plane) {
  const DirectPlane p = plane;  // a copy that stores cannot change
  Vf taps[kSize * kSize];
#pragma GCC unroll 25
  for (int t = 0; t < kSize * kSize; ++t) taps[t] = set1(p.taps[t]);
  for (int64_t w = 0; w < p.out_w; w += kLanes) {
    const int64_t from = w * kStep - p.pad_w;
    if (from >= 0 && from + kStep * kLanes + kSize - 1 <= p.in_w) {
      direct_columns<kStep, kSize>(p, w, taps, [](const float* at, int, int) { return load(at); });
    } else {
      const ShiftRanges<kStep, kSize> ranges(from, p.in_w);
      direct_columns<kStep, kSize>(
          p, w, taps, [&ranges](const float* at, int k, int s) { return load_range(at, ranges.at[k][s]); });
    }
  }
}

DepthwiseDirect direct_depthwise(int64_t size, int64_t step) {
  if (size == 3) return step == 1 ? depthwise_direct<1, 3> : step == 2 ? depthwise_direct<2, 3> : nullptr;
  if (size == 5) return step == 1 ? depthwise_direct<1, 5> : step == 2 ? depthwise_direct<2, 5> : nullptr;
  return nullptr;
}

}  // namespace
}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
