// Reductions of rows and columns for one instruction set. Included as vec.h is.
#pragma once

#include <utility>

#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/vectors/sum_block.h"
#include "cpu/kernels/vectors/vec_math.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

constexpr float kInfinity = __builtin_inff();
constexpr int64_t kRowBlock = 64;  // rows of a column sum that run in one partial sum

// A reduction: the neutral element, how an element enters, and how partial results join.
struct Sum {
  static constexpr float kNeutral = 0;
  static constexpr bool kAdds = true;
  ORTOLAN_INLINE Vf enter(Vf sum, Vf x) { return sum + x; }
  ORTOLAN_INLINE Vf join(Vf a, Vf b) { return a + b; }
};
struct SumSquares : Sum {
  ORTOLAN_INLINE Vf enter(Vf sum, Vf x) { return fma(x, x, sum); }
};
struct SumAbs : Sum {
  ORTOLAN_INLINE Vf enter(Vf sum, Vf x) { return sum + vabs(x); }
};
struct Product {
  static constexpr float kNeutral = 1;
  static constexpr bool kAdds = false;
  ORTOLAN_INLINE Vf enter(Vf product, Vf x) { return product * x; }
  ORTOLAN_INLINE Vf join(Vf a, Vf b) { return a * b; }
};
struct Max {
  static constexpr float kNeutral = -kInfinity;
  static constexpr bool kAdds = false;
  ORTOLAN_INLINE Vf enter(Vf largest, Vf x) { return select(largest == largest, vmax(largest, x), largest); }
  ORTOLAN_INLINE Vf join(Vf a, Vf b) { return enter(a, b); }
};
/** The largest where nothing is NaN. */
struct PlainMax {
  ORTOLAN_INLINE Vf join(Vf a, Vf b) { return vmax(a, b); }
};
struct Min {
  static constexpr float kNeutral = kInfinity;
  static constexpr bool kAdds = false;
  ORTOLAN_INLINE Vf enter(Vf least, Vf x) { return select(least == least, vmin(least, x), least); }
  ORTOLAN_INLINE Vf join(Vf a, Vf b) { return enter(a, b); }
};

#if defined(__AVX512F__)
ORTOLAN_INLINE Vf load_n_or(const float* p, int64_t n, float otherwise) {
  return (Vf)_mm512_mask_loadu_ps((__m512)set1(otherwise), first_lanes(n), p);
}
/** v where the lane is below n. */
ORTOLAN_INLINE Vf first_or(Vf v, int64_t n, float otherwise) {
  return (Vf)_mm512_mask_mov_ps((__m512)set1(otherwise), first_lanes(n), (__m512)v);
}
#elif defined(__AVX2__)
ORTOLAN_INLINE Vf first_or(Vf v, int64_t n, float otherwise) {
  return (Vf)_mm256_blendv_ps((__m256)set1(otherwise), (__m256)v, (__m256)first_lanes(n));
}
ORTOLAN_INLINE Vf load_n_or(const float* p, int64_t n, float otherwise) { return first_or(load_n(p, n), n, otherwise); }
#else
ORTOLAN_INLINE Vf first_or(Vf v, int64_t n, float otherwise) {
  for (int64_t i = n; i < kLanes; ++i) v[i] = otherwise;
  return v;
}
ORTOLAN_INLINE Vf load_n_or(const float* p, int64_t n, float otherwise) { return first_or(load_n(p, n), n, otherwise); }
#endif

/** Lane i of the result is lane (i + kBy) mod kLanes. */
template <int kBy, size_t... I>
ORTOLAN_INLINE Vf rotate_lanes(Vf v, std::index_sequence<I...>) {
  return __builtin_shufflevector(v, v, ((I + kBy) % kLanes)...);
}

/** All lanes joined, in each lane. */
template <class Op, int kBy = kLanes / 2>
ORTOLAN_INLINE Vf join_halves(Vf v) {
  if constexpr (kBy == 0)
    return v;
  else
    return join_halves<Op, kBy / 2>(Op::join(v, rotate_lanes<kBy>(v, std::make_index_sequence<kLanes>())));
}

template <class Op>
ORTOLAN_INLINE float join_lanes(Vf v) {
  return Op::kAdds ? sum_lanes(v) : join_halves<Op>(v)[0];
}

template <class Op>
ORTOLAN_INLINE float reduce_block(const float* x, int64_t n) {
  const Vf neutral = set1(Op::kNeutral);
  if (n <= kLanes) return join_lanes<Op>(Op::enter(neutral, load_n_or(x, n, Op::kNeutral)));
  Vf a = neutral, b = neutral, c = neutral, d = neutral;
  int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    a = Op::enter(a, load(x + i));
    b = Op::enter(b, load(x + i + kLanes));
    c = Op::enter(c, load(x + i + 2 * kLanes));
    d = Op::enter(d, load(x + i + 3 * kLanes));
  }
  for (; i + kLanes <= n; i += kLanes) a = Op::enter(a, load(x + i));
  if (i < n) b = Op::enter(b, load_n_or(x + i, n - i, Op::kNeutral));
  return join_lanes<Op>(Op::join(Op::join(a, b), Op::join(c, d)));
}

template <class Op>
float reduce(const float* x, int64_t n) {
  if (!Op::kAdds || n <= kSumBlock) return reduce_block<Op>(x, n);
  double total = 0;
  for (int64_t i = 0; i < n; i += kSumBlock) total += reduce_block<Op>(x + i, least(kSumBlock, n - i));
  return static_cast<float>(total);
}

template <class Op>
ORTOLAN_INLINE void reduce_lane_columns(const float* x, int64_t axis, int64_t stride, int64_t count, float* y) {
  Vf total = set1(Op::kNeutral);
  for (int64_t begin = 0; begin < axis; begin += kRowBlock) {
    const int64_t end = least(axis, begin + kRowBlock);
    Vf part = set1(Op::kNeutral);
    for (int64_t a = begin; a < end; ++a) {
      part = Op::enter(part, count == kLanes ? load(x + a * stride) : load_n(x + a * stride, count));
    }
    total = Op::join(total, part);
  }
  store_n(y, count, total);
}

template <class Op>
ORTOLAN_INLINE void reduce_wide_columns(const float* x, int64_t axis, int64_t stride, float* y) {
  Vf total[4], part[4];
  for (Vf& t : total) t = set1(Op::kNeutral);
  for (int64_t begin = 0; begin < axis; begin += kRowBlock) {
    const int64_t end = least(axis, begin + kRowBlock);
    for (Vf& p : part) p = set1(Op::kNeutral);
    for (int64_t a = begin; a < end; ++a) {
      for (int v = 0; v < 4; ++v) part[v] = Op::enter(part[v], load(x + a * stride + v * kLanes));
    }
    for (int v = 0; v < 4; ++v) total[v] = Op::join(total[v], part[v]);
  }
  for (int v = 0; v < 4; ++v) store(y + v * kLanes, total[v]);
}

template <class Op>
void reduce_columns(const float* x, int64_t axis, int64_t stride, int64_t columns, float* y) {
  int64_t c = 0;
  for (; c + 4 * kLanes <= columns; c += 4 * kLanes) reduce_wide_columns<Op>(x + c, axis, stride, y + c);
  for (; c < columns; c += kLanes) reduce_lane_columns<Op>(x + c, axis, stride, least(kLanes, columns - c), y + c);
}

float dot_block(const float* a, const float* b, int64_t n) {
  Vf s0 = {}, s1 = {}, s2 = {}, s3 = {};
  int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    s0 = fma(load(a + i), load(b + i), s0);
    s1 = fma(load(a + i + kLanes), load(b + i + kLanes), s1);
    s2 = fma(load(a + i + 2 * kLanes), load(b + i + 2 * kLanes), s2);
    s3 = fma(load(a + i + 3 * kLanes), load(b + i + 3 * kLanes), s3);
  }
  for (; i + kLanes <= n; i += kLanes) s0 = fma(load(a + i), load(b + i), s0);
  if (i < n) s1 = fma(load_n(a + i, n - i), load_n(b + i, n - i), s1);
  return sum_lanes((s0 + s1) + (s2 + s3));
}

float dot(const float* a, const float* b, int64_t n) {
  if (n <= kSumBlock) return dot_block(a, b, n);
  double total = 0;
  for (int64_t i = 0; i < n; i += kSumBlock) total += dot_block(a + i, b + i, least(kSumBlock, n - i));
  return static_cast<float>(total);
}

}  // namespace
}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
