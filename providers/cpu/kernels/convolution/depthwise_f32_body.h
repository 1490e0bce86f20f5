// Depthwise planes of square 3x3, 5x5 and 7x7 weights, straight from the input, for one instruction set. Included as
// vec.h is.
#pragma once

#include "cpu/kernels/convolution/conv_f32_kernels.h"
#include "cpu/kernels/vectors/vec_lanes.h"

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

// v[k] holds what column k of the weights meets: elements k, k + kStep, ... of the row from `at` on, in the order that
// in_order() undoes.
template <int kStep, int kSize, class Load>
ORTOLAN_INLINE void load_shifts(const float* at, Load load_at, Vf (&v)[kSize]) {
  if constexpr (kStep == 1) {
#pragma GCC unroll 7
    for (int k = 0; k < kSize; ++k) v[k] = load_at(at + k, k, 0);
  } else {
#pragma GCC unroll 7
    for (int k = 0; k < kSize; k += 2) {
      const Vf a = load_at(at + k, k, 0), b = load_at(at + k + kLanes, k, 1);
      v[k] = mixed_even(a, b);
      if (k + 1 < kSize) v[k + 1] = mixed_odd(a, b);
    }
  }
}

template <int kStep>
ORTOLAN_INLINE Vf in_order(Vf v) {
  return kStep == 1 ? v : unmix(v);
}

ORTOLAN_INLINE void finish_row(const DirectPlane& p, int64_t at, int64_t count, Vf v) {
  if (p.residual != nullptr) v = v + load_n(p.residual + at, count);
  store_count(p.y + at, count, vmin(set1(p.high), vmax(set1(p.low), v)));
}

// The weights of a plane: a vector each or, where broadcasting a lane costs nothing, side by side.
template <int kSize>
struct Taps {
#if defined(__aarch64__)
  static constexpr int kCount = (kSize * kSize + kLanes - 1) / kLanes;
  ORTOLAN_INLINE Vf begin(const float* taps, int i) { return load_n(taps + i * kLanes, kSize * kSize - i * kLanes); }
  ORTOLAN_INLINE Vf at(const Vf* vectors, int i) { return set1(vectors[i / kLanes][i % kLanes]); }
  // Else the compiler would broadcast all lanes once, into more registers than there are.
  ORTOLAN_INLINE void keep_side_by_side(Vf* vectors) {
#pragma GCC unroll 13
    for (int i = 0; i < kCount; ++i) asm("" : "+w"(vectors[i]));
  }
#else
  static constexpr int kCount = kSize * kSize;
  ORTOLAN_INLINE Vf begin(const float* taps, int i) { return set1(taps[i]); }
  ORTOLAN_INLINE Vf at(const Vf* vectors, int i) { return vectors[i]; }
  ORTOLAN_INLINE void keep_side_by_side(const Vf*) {}
#endif
};

// All output rows of the columns from w on. Each input row is read once, for the kLive outputs that it meets: step h
// begins the sums of output row h, kept in sum[0], and ends those of row h - kLive + 1.
template <int kStep, int kSize, class Load>
ORTOLAN_INLINE void direct_columns(const DirectPlane& p, int64_t w, Vf (&taps)[Taps<kSize>::kCount], Load load_at) {
  constexpr int kLive = (kSize + kStep - 1) / kStep;
  const int64_t count = least(kLanes, p.out_w - w);
  const float* x = p.x + w * kStep - p.pad_w;
  Vf sum[kLive] = {};
  for (int64_t h = 0; h < p.out_h + kLive - 1; ++h) {
#pragma GCC unroll 7
    for (int j = kLive - 1; j > 0; --j) sum[j] = sum[j - 1];
    sum[0] = set1(p.bias);
#pragma GCC unroll 2
    for (int s = 0; s < kStep; ++s) {
      const int64_t row = h * kStep + s - p.pad_h;
      if (row < 0 || row >= p.in_h) continue;
      Taps<kSize>::keep_side_by_side(taps);
      Vf v[kSize];
      load_shifts<kStep, kSize>(x + row * p.in_w, load_at, v);
#pragma GCC unroll 7
      for (int k = 0; k < kSize; ++k) {
#pragma GCC unroll 7
        for (int j = 0; s + j * kStep < kSize; ++j)
          sum[j] = fma(v[k], Taps<kSize>::at(taps, (s + j * kStep) * kSize + k), sum[j]);
      }
    }
    const int64_t done = h - kLive + 1;
    if (done >= 0) finish_row(p, done * p.out_w + w, count, in_order<kStep>(sum[kLive - 1]));
  }
}

template <int kStep, int kSize>
void depthwise_direct(const DirectPlane& plane) {
  const DirectPlane p = plane;  // a copy that stores cannot change
  Vf taps[Taps<kSize>::kCount];
#pragma GCC unroll 49
  for (int t = 0; t < Taps<kSize>::kCount; ++t) taps[t] = Taps<kSize>::begin(p.taps, t);
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
  if (size == 7) return step == 1 ? depthwise_direct<1, 7> : nullptr;
  if (size == 5) return step == 1 ? depthwise_direct<1, 5> : step == 2 ? depthwise_direct<2, 5> : nullptr;
  return nullptr;
}

}  // namespace
}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
