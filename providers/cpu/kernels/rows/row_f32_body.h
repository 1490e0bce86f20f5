// Normalisation and weighted sums of rows for one instruction set. Included as vec.h is.
#pragma once

#include "cpu/kernels/elementwise/vec_range.h"
#include "cpu/kernels/rows/reduce_f32_body.h"
#include "cpu/kernels/rows/softmax_f32_body.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

ORTOLAN_INLINE Vf added_at(const float* x, const float* a, const float* b, int64_t i, int64_t left) {
  const auto read = [&](const float* p) { return left == kLanes ? load(p + i) : load_n(p + i, left); };
  Vf v = read(x);
  if (a != nullptr) v = v + read(a);
  if (b != nullptr) v = v + read(b);
  return v;
}

void add_rows(const float* x, const float* a, const float* b, float* y, int64_t n) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(y + i, added_at(x, a, b, i, kLanes));
  if (i < n) store_n(y + i, n - i, added_at(x, a, b, i, n - i));
}

void scale_rows(const float* x, int64_t rows, int64_t n, const float* factors, float* y, int64_t stride,
                ValueRange* range) {
  constexpr int kAtOnce = 4;
  VectorRange found[kAtOnce];
  for (int64_t row = 0; row < rows; ++row, x += n, y += stride) {
    const Vf factor = set1(factors[row]);
    int64_t i = 0;
    for (; i + kAtOnce * kLanes <= n; i += kAtOnce * kLanes) {
#pragma GCC unroll 4
      for (int j = 0; j < kAtOnce; ++j) {
        store(y + i + j * kLanes, note(found[j], load(x + i + j * kLanes) * factor));
      }
    }
    for (; i < n; i += kLanes) {
      const int64_t left = least(kLanes, n - i);
      store_n(y + i, left, note(found[0], load_n(x + i, left) * factor));
    }
  }
  for (const VectorRange& part : found) include_in(range, part);
}

float sum_centred_squares(const float* x, int64_t n, float mean) {
  const Vf centre = set1(mean);
  Vf a = {}, b = {}, c = {}, d = {};
  int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    const Vf s = load(x + i) - centre, t = load(x + i + kLanes) - centre;
    const Vf u = load(x + i + 2 * kLanes) - centre, v = load(x + i + 3 * kLanes) - centre;
    a = fma(s, s, a);
    b = fma(t, t, b);
    c = fma(u, u, c);
    d = fma(v, v, d);
  }
  for (; i + kLanes <= n; i += kLanes) {
    const Vf u = load(x + i) - centre;
    a = fma(u, u, a);
  }
  if (i < n) {
    const Vf u = load_n_or(x + i, n - i, mean) - centre;
    b = fma(u, u, b);
  }
  return sum_lanes((a + b) + (c + d));
}

void moments(const float* x, int64_t n, bool centred, float* mean, float* variance) {
  const float count = static_cast<float>(n);
  *mean = centred ? reduce<Sum>(x, n) / count : 0.0f;
  double squares = 0;
  for (int64_t i = 0; i < n; i += kSumBlock) squares += sum_centred_squares(x + i, least(kSumBlock, n - i), *mean);
  *variance = static_cast<float>(squares) / count;
}

// What normalising some rows takes.
template <int kRows>
struct Moments {
  float mean[kRows], factor[kRows];
};

// Sums of `enter(sum, v, row)` over the vectors of each row; each row has the same sums whatever kRows is.
template <int kRows, class Read, class Enter>
ORTOLAN_INLINE void sum_vectors(const float* x, int64_t n, Read read, Enter enter, float (&sums)[kRows]) {
  Vf sum[kRows][2] = {};
  int64_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      sum[r][0] = enter(sum[r][0], load(x + r * n + i), r);
      sum[r][1] = enter(sum[r][1], load(x + r * n + i + kLanes), r);
    }
  }
  for (; i < n; i += kLanes) {
    for (int r = 0; r < kRows; ++r) sum[r][0] = enter(sum[r][0], read(x + r * n + i, least(kLanes, n - i), r), r);
  }
  for (int r = 0; r < kRows; ++r) sums[r] = sum_lanes(sum[r][0] + sum[r][1]);
}

// Of rows of at most kSumBlock values.
template <int kRows>
ORTOLAN_INLINE Moments<kRows> moments_of(const NormalizedRows& a, const float* x) {
  Moments<kRows> m = {};
  const float count = static_cast<float>(a.n);
  if (a.centred) {
    sum_vectors<kRows>(
        x, a.n, [](const float* p, int64_t left, int) { return load_n(p, left); },
        [](Vf sum, Vf v, int) { return sum + v; }, m.mean);
    for (float& mean : m.mean) mean /= count;
  }
  Vf centre[kRows];
  for (int r = 0; r < kRows; ++r) centre[r] = set1(m.mean[r]);
  float squares[kRows];
  sum_vectors<kRows>(
      x, a.n, [&](const float* p, int64_t left, int r) { return load_n_or(p, left, m.mean[r]); },
      [&](Vf sum, Vf v, int r) { return fma(v - centre[r], v - centre[r], sum); }, squares);
  for (int r = 0; r < kRows; ++r) m.factor[r] = 1.0f / vsqrt(set1(squares[r] / count + a.epsilon))[0];
  return m;
}

// How rows of n values become normalised ones.
template <int kRows>
struct Normalizer {
  const float* scale;
  const float* bias;
  int64_t n;
  Vf mean[kRows], factor[kRows];
  VectorRange found[kRows] = {};

  __attribute__((always_inline)) void vectors(const float* x, int64_t i, int64_t left, float* y) {
    const auto read = [&](const float* p) { return left == kLanes ? load(p) : load_n(p, left); };
    const Vf scales = scale == nullptr ? set1(1.0f) : read(scale + i), biases = bias == nullptr ? Vf{} : read(bias + i);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const Vf v = fma((read(x + r * n + i) - mean[r]) * factor[r], scales, biases);
      note(found[r], left == kLanes ? v : first_or(v, left, 0.0f));
      left == kLanes ? store(y + r * n + i, v) : store_n(y + r * n + i, left, v);
    }
  }
};

template <int kRows>
ORTOLAN_INLINE void normalize_together(const NormalizedRows& a, int64_t row, const Moments<kRows>& m,
                                       VectorRange& range) {
  const float* x = a.x + row * a.n;
  float* y = a.y + row * a.n;
  Normalizer<kRows> normalizer{a.scale, a.bias, a.n};
  for (int r = 0; r < kRows; ++r) normalizer.mean[r] = set1(m.mean[r]), normalizer.factor[r] = set1(m.factor[r]);
  const int64_t n = a.n;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) normalizer.vectors(x, i, kLanes, y);
  for (; i < n; i += kLanes) normalizer.vectors(x, i, least(kLanes, n - i), y);
  for (int r = 0; r < kRows; ++r) {
    note(range, normalizer.found[r].low);
    note(range, normalizer.found[r].high);
    if (a.mean != nullptr) a.mean[row + r] = m.mean[r];
    if (a.inverse_std != nullptr) a.inverse_std[row + r] = m.factor[r];
  }
}

ORTOLAN_INLINE Moments<1> moments_of_long(const NormalizedRows& a, const float* x) {
  Moments<1> m;
  float variance;
  moments(x, a.n, a.centred, &m.mean[0], &variance);
  m.factor[0] = 1.0f / vsqrt(set1(variance + a.epsilon))[0];
  return m;
}

void normalize_rows(const NormalizedRows& a) {
  constexpr int kAtOnce = 4;
  VectorRange found;
  int64_t row = 0;
  for (; a.n <= kSumBlock && row + kAtOnce <= a.rows; row += kAtOnce) {
    normalize_together<kAtOnce>(a, row, moments_of<kAtOnce>(a, a.x + row * a.n), found);
  }
  for (; row < a.rows; ++row) {
    const float* x = a.x + row * a.n;
    normalize_together<1>(a, row, a.n <= kSumBlock ? moments_of<1>(a, x) : moments_of_long(a, x), found);
  }
  include_in(a.range, found);
}

/** Every kWays-th row goes into sums of its own, so that they need not wait for each other. */
template <int kVectors, int kWays>
ORTOLAN_INLINE void weighted_block(const float* rows, int64_t count, int64_t stride, int64_t left, const float* weights,
                                   float* y) {
  Vf sums[kWays][kVectors] = {};
  auto add = [&](int64_t i, Vf * way) __attribute__((always_inline)) {
    const Vf weight = set1(weights[i]);
    for (int v = 0; v < kVectors; ++v) {
      const float* p = rows + i * stride + v * kLanes;
      way[v] = fma(weight, left == kLanes ? load(p) : load_n(p, left), way[v]);
    }
  };
  int64_t i = 0;
  for (; i + kWays <= count; i += kWays) {
    for (int way = 0; way < kWays; ++way) add(i + way, sums[way]);
  }
  for (; i < count; ++i) add(i, sums[0]);
  for (int v = 0; v < kVectors; ++v) {
    Vf sum = sums[0][v];
    for (int way = 1; way < kWays; ++way) sum += sums[way][v];
    store_n(y + v * kLanes, left, sum);
  }
}

void weighted_rows(const float* rows, int64_t count, int64_t columns, const float* weights, float* y) {
  int64_t c = 0;
  for (; c + 8 * kLanes <= columns; c += 8 * kLanes) {
    weighted_block<8, 1>(rows + c, count, columns, kLanes, weights, y + c);
  }
  for (; c + 4 * kLanes <= columns; c += 4 * kLanes) {
    weighted_block<4, 2>(rows + c, count, columns, kLanes, weights, y + c);
  }
  for (; c < columns; c += kLanes) {
    weighted_block<1, 4>(rows + c, count, columns, least(kLanes, columns - c), weights, y + c);
  }
}

struct StateStep {
  int64_t count, stride, left;
  const float* factors;
  const float* key;
  const float* query;
};

template <int kVectors>
ORTOLAN_INLINE void update_block(const StateStep& step, float* state, const float* value, float* y) {
  Vf values[kVectors], sums[kVectors] = {};
  for (int v = 0; v < kVectors; ++v) values[v] = load_n(value + v * kLanes, step.left);
  for (int64_t i = 0; i < step.count; ++i) {
    const Vf factor = set1(step.factors == nullptr ? 1.0f : step.factors[i]);
    const Vf key = set1(step.key[i]), query = set1(step.query[i]);
    for (int v = 0; v < kVectors; ++v) {
      float* p = state + i * step.stride + v * kLanes;
      const Vf s = fma(key, values[v], factor * (step.left == kLanes ? load(p) : load_n(p, step.left)));
      sums[v] = fma(query, s, sums[v]);
      step.left == kLanes ? store(p, s) : store_n(p, step.left, s);
    }
  }
  for (int v = 0; v < kVectors; ++v) store_n(y + v * kLanes, step.left, sums[v]);
}

void update_state(float* state, int64_t count, int64_t columns, const float* factors, const float* key,
                  const float* value, const float* query, float* y) {
  StateStep step{count, columns, kLanes, factors, key, query};
  int64_t c = 0;
  for (; c + 4 * kLanes <= columns; c += 4 * kLanes) update_block<4>(step, state + c, value + c, y + c);
  for (; c < columns; c += kLanes) {
    step.left = least(kLanes, columns - c);
    update_block<1>(step, state + c, value + c, y + c);
  }
}

}  // namespace

extern const RowF32Kernels kRowF32;
const RowF32Kernels kRowF32 = {
    {reduce<Sum>, reduce<SumSquares>, reduce<SumAbs>, reduce<Product>, reduce<Max>, reduce<Min>},
    {reduce_columns<Sum>, reduce_columns<SumSquares>, reduce_columns<SumAbs>, reduce_columns<Product>,
     reduce_columns<Max>, reduce_columns<Min>},
    dot,
    softmax_row,
    weigh_row,
    weigh_rows,
    scale_rows,
    softmax_columns,
    add_rows,
    moments,
    normalize_rows,
    weighted_rows,
    update_state,
};

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
