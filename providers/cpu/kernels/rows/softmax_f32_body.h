// Softmax of rows and of columns, and of scores in parts, for one instruction set. Included as vec.h is.
#pragma once

#include "cpu/kernels/rows/reduce_f32_body.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

// One vector of scaled and masked softmax input; lanes past n are -inf.
ORTOLAN_INLINE Vf softmax_input(const float* x, Vf scale, const float* mask, int64_t i, int64_t left) {
  if (left == kLanes) {
    const Vf v = load(x + i);
    return mask == nullptr ? v * scale : fma(v, scale, load(mask + i));
  }
  Vf v = load_n(x + i, left) * scale;
  if (mask != nullptr) v = v + load_n(mask + i, left);
  return first_or(v, left, -kInfinity);
}

ORTOLAN_INLINE float softmax_largest(const float* x, Vf scale, const float* mask, int64_t n) {
  Vf a = set1(-kInfinity), b = a;
  int64_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    a = vmax(a, softmax_input(x, scale, mask, i, kLanes));
    b = vmax(b, softmax_input(x, scale, mask, i + kLanes, kLanes));
  }
  for (; i < n; i += kLanes) a = vmax(a, softmax_input(x, scale, mask, i, least(kLanes, n - i)));
  return join_halves<PlainMax>(vmax(a, b))[0];
}

void softmax_row(const float* x, float scale, const float* mask, int64_t n, bool logarithm, float* y) {
  const Vf factor = set1(scale);
  const Vf largest = set1(softmax_largest(x, factor, mask, n));
  Vf sum = {}, second = {};
  int64_t at = 0;
  for (; at + 2 * kLanes <= n; at += 2 * kLanes) {
    const Vf u = softmax_input(x, factor, mask, at, kLanes) - largest;
    const Vf v = softmax_input(x, factor, mask, at + kLanes, kLanes) - largest;
    const Vf eu = vanishing_exp(u), ev = vanishing_exp(v);
    sum = sum + eu;
    second = second + ev;
    store(y + at, logarithm ? u : eu);
    store(y + at + kLanes, logarithm ? v : ev);
  }
  for (int64_t i = at; i < n; i += kLanes) {
    const int64_t left = least(kLanes, n - i);
    const Vf centred = softmax_input(x, factor, mask, i, left) - largest;
    const Vf e = vanishing_exp(centred);
    if (i & kLanes) {
      second = second + e;
    } else {
      sum = sum + e;
    }
    if (left == kLanes) {
      store(y + i, logarithm ? centred : e);
    } else {
      store_n(y + i, left, logarithm ? centred : e);
    }
  }
  const float total = sum_lanes(sum + second);
  const float scale_out = logarithm ? 1.0f : 1.0f / total;
  const Vf factor_out = set1(scale_out);
  const Vf shift = logarithm ? Vf{} - log(set1(total)) : Vf{};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(y + i, fma(load(y + i), factor_out, shift));
  if (i < n) store_n(y + i, n - i, fma(load_n(y + i, n - i), factor_out, shift));
}

// A vector of scores, with what is added to them.
template <bool kAdded>
ORTOLAN_INLINE Vf score_at(const float* x, const float* added, int64_t i) {
  return kAdded ? load(x + i) + load(added + i) : load(x + i);
}
template <bool kAdded>
ORTOLAN_INLINE Vf last_scores(const float* x, const float* added, int64_t i, int64_t left) {
  const Vf v = kAdded ? load_n(x + i, left) + load_n(added + i, left) : load_n(x + i, left);
  return first_or(v, left, -kInfinity);
}

template <bool kAdded>
ORTOLAN_INLINE float largest_score(const float* x, const float* added, int64_t n) {
  constexpr int kAtOnce = 4;
  Vf most[kAtOnce];
  for (Vf& v : most) v = set1(-kInfinity);
  int64_t i = 0;
  for (; i + kAtOnce * kLanes <= n; i += kAtOnce * kLanes) {
#pragma GCC unroll 4
    for (int j = 0; j < kAtOnce; ++j) most[j] = vmax(most[j], score_at<kAdded>(x, added, i + j * kLanes));
  }
  for (; i < n; i += kLanes) most[0] = vmax(most[0], last_scores<kAdded>(x, added, i, least(kLanes, n - i)));
  return join_halves<PlainMax>(vmax(vmax(most[0], most[1]), vmax(most[2], most[3])))[0];
}

// Makes scores exp(score - centre), which is their largest, and returns the sum.
template <bool kAdded>
ORTOLAN_INLINE float weigh_about(float* x, const float* added, int64_t n, Vf centre) {
  constexpr int kAtOnce = kLanes == 16 ? 8 : 2;
  Vf sums[2] = {};
  int64_t i = 0;
  for (; i + kAtOnce * kLanes <= n; i += kAtOnce * kLanes) {
    Vf v[kAtOnce];
#pragma GCC unroll 8
    for (int j = 0; j < kAtOnce; ++j) v[j] = score_at<kAdded>(x, added, i + j * kLanes) - centre;
    exp_of_negatives(v);
#pragma GCC unroll 8
    for (int j = 0; j < kAtOnce; ++j) {
      store(x + i + j * kLanes, v[j]);
      sums[j & 1] = sums[j & 1] + v[j];
    }
  }
  for (; i < n; i += kLanes) {
    const int64_t left = least(kLanes, n - i);
    Vf e[] = {last_scores<kAdded>(x, added, i, left) - centre};
    exp_of_negatives(e);
    store_n(x + i, left, e[0]);
    sums[0] = sums[0] + e[0];
  }
  return sum_lanes(sums[0] + sums[1]);
}

template <bool kAdded>
ORTOLAN_INLINE float weigh_below(float* x, const float* added, int64_t n, float maximum) {
  if (maximum != -kInfinity) return weigh_about<kAdded>(x, added, n, set1(maximum));
  for (int64_t i = 0; i < n; i += kLanes) store_n(x + i, least(kLanes, n - i), Vf{});
  return 0;
}

float weigh_row(float* x, int64_t n, float* maximum) {
  const float now = largest_score<false>(x, nullptr, n);
  if (now > *maximum || now != now) *maximum = now;
  return weigh_below<false>(x, nullptr, n, *maximum);
}

template <bool kAdded>
void weigh_all(float* x, int64_t rows, int64_t n, const float* added, int64_t added_stride, float* maxima,
               float* totals) {
  constexpr int64_t kAtOnce = 8;  // rows whose maxima are found before any is needed
  for (int64_t begin = 0; begin < rows; begin += kAtOnce) {
    const int64_t end = least(rows, begin + kAtOnce);
    for (int64_t row = begin; row < end; ++row) {
      maxima[row] = largest_score<kAdded>(x + row * n, added + row * added_stride, n);
    }
    for (int64_t row = begin; row < end; ++row) {
      totals[row] = weigh_below<kAdded>(x + row * n, added + row * added_stride, n, maxima[row]);
    }
  }
}

void weigh_rows(float* x, int64_t rows, int64_t n, const float* added, int64_t added_stride, float* maxima,
                float* totals) {
  if (added == nullptr) return weigh_all<false>(x, rows, n, x, 0, maxima, totals);
  weigh_all<true>(x, rows, n, added, added_stride, maxima, totals);
}

void softmax_columns(const float* x, int64_t axis, int64_t stride, int64_t columns, bool logarithm, float* scratch,
                     float* y) {
  float* largest = scratch;
  float* total = scratch + columns;
  reduce_columns<Max>(x, axis, stride, columns, largest);
  for (int64_t c = 0; c < columns; c += kLanes) store_n(total + c, least(kLanes, columns - c), Vf{});
  for (int64_t a = 0; a < axis; ++a) {
    for (int64_t c = 0; c < columns; c += kLanes) {
      const int64_t left = least(kLanes, columns - c);
      const Vf centred = load_n(x + a * stride + c, left) - load_n(largest + c, left);
      const Vf e = vanishing_exp(centred);
      store_n(total + c, left, load_n(total + c, left) + e);
      store_n(y + a * stride + c, left, logarithm ? centred : e);
    }
  }
  for (int64_t c = 0; c < columns; c += kLanes) {
    const int64_t left = least(kLanes, columns - c);
    const Vf t = load_n(total + c, left);
    store_n(total + c, left, logarithm ? log(t) : set1(1.0f) / t);
  }
  for (int64_t a = 0; a < axis; ++a) {
    for (int64_t c = 0; c < columns; c += kLanes) {
      const int64_t left = least(kLanes, columns - c);
      const Vf t = load_n(total + c, left);
      const Vf v = load_n(y + a * stride + c, left);
      store_n(y + a * stride + c, left, logarithm ? v - t : v * t);
    }
  }
}

}  // namespace
}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
