// The loops of vector_f32.h for one instruction set. Included as vec.h is.
#pragma once

#include "cpu/kernels/elementwise/spans_f64.h"
#include "cpu/kernels/elementwise/vec_range.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/vectors/vec_lanes.h"
#include "cpu/kernels/vectors/vec_math.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

struct Params {
  Vf p0, p1;
};

template <Vf (*F)(Vf, Params)>
void map(const float* x, float* y, int64_t n, float p0, float p1) {
  const Params params{set1(p0), set1(p1)};
  int64_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    const Vf first = F(load(x + i), params);
    const Vf second = F(load(x + i + kLanes), params);
    store(y + i, first);
    store(y + i + kLanes, second);
  }
  for (; i < n; i += kLanes) {
    const int64_t left = least(kLanes, n - i);
    store_n(y + i, left, F(load_n(x + i, left), params));
  }
}

ORTOLAN_INLINE Vf one() { return set1(1.0f); }
ORTOLAN_INLINE Vf apply_identity(Vf x, Params) { return x; }
ORTOLAN_INLINE Vf apply_abs(Vf x, Params) { return vabs(x); }
ORTOLAN_INLINE Vf apply_neg(Vf x, Params) { return from_bits(bits(x) ^ INT32_MIN); }
ORTOLAN_INLINE Vf apply_reciprocal(Vf x, Params) { return one() / x; }
ORTOLAN_INLINE Vf apply_sqrt(Vf x, Params) { return vsqrt(x); }
ORTOLAN_INLINE Vf apply_floor(Vf x, Params) { return floor(x); }
ORTOLAN_INLINE Vf apply_ceil(Vf x, Params) { return ceil(x); }
ORTOLAN_INLINE Vf apply_round(Vf x, Params) { return rint(x); }
ORTOLAN_INLINE Vf apply_sign(Vf x, Params) {
  return select(x > Vf{}, one(), select(x < Vf{}, set1(-1.0f), select(x == Vf{}, Vf{}, x)));
}
ORTOLAN_INLINE Vf apply_exp(Vf x, Params) { return exp(x); }
ORTOLAN_INLINE Vf apply_log(Vf x, Params) { return log(x); }
ORTOLAN_INLINE Vf apply_erf(Vf x, Params) { return erf(x); }
ORTOLAN_INLINE Vf apply_tanh(Vf x, Params) { return tanh(x); }
ORTOLAN_INLINE Vf apply_sigmoid(Vf x, Params) { return sigmoid(x); }
ORTOLAN_INLINE Vf apply_softplus(Vf x, Params) { return softplus(x); }
ORTOLAN_INLINE Vf apply_softsign(Vf x, Params) {
  const Vf a = vabs(x);
  return select(a == set1(__builtin_inff()), with_sign(one(), x), x / (one() + a));
}
ORTOLAN_INLINE Vf apply_relu(Vf x, Params) { return vmax(Vf{}, x); }
ORTOLAN_INLINE Vf apply_clip(Vf x, Params p) { return vmin(p.p1, vmax(p.p0, x)); }
ORTOLAN_INLINE Vf apply_leaky_relu(Vf x, Params p) { return select(x < Vf{}, p.p0 * x, x); }
ORTOLAN_INLINE Vf apply_thresholded_relu(Vf x, Params p) { return select(x <= p.p0, Vf{}, x); }
ORTOLAN_INLINE Vf apply_elu(Vf x, Params p) { return select(x < Vf{}, p.p0 * expm1(x), x); }
ORTOLAN_INLINE Vf apply_selu(Vf x, Params p) { return p.p1 * apply_elu(x, p); }
ORTOLAN_INLINE Vf apply_celu(Vf x, Params p) { return select(x < Vf{}, p.p0 * expm1(x / p.p0), x); }
ORTOLAN_INLINE Vf apply_gelu_tanh(Vf x, Params) { return gelu_tanh(x); }
ORTOLAN_INLINE Vf apply_quick_gelu(Vf x, Params p) {
  const Vf inner = p.p0 * x;
  return select(inner < set1(kUnitVanishes), with_sign(Vf{}, x), x * sigmoid(inner));
}
ORTOLAN_INLINE Vf apply_silu(Vf x, Params) { return silu(x); }
ORTOLAN_INLINE Vf apply_mish(Vf x, Params) {
  return select(x < set1(kUnitVanishes), set1(-0.0f), x * tanh(softplus(x)));
}
ORTOLAN_INLINE Vf apply_hard_sigmoid(Vf x, Params p) { return vmin(one(), vmax(Vf{}, fma(p.p0, x, p.p1))); }
/** The sum in the gate is exact near -3, where it comes to nothing. */
ORTOLAN_INLINE Vf apply_hard_swish(Vf x, Params) {
  const Vf bounded = vmax(set1(-3.0f), x);
  return bounded * (vmin(set1(6.0f), bounded + set1(3.0f)) * set1(1.0f / 6));
}

void map_gelu(const float* x, float* y, int64_t n, float, float) {
  constexpr int kAtOnce = kLanes == 16 ? 8 : 2;
  int64_t i = 0;
  for (; i + kAtOnce * kLanes <= n; i += kAtOnce * kLanes) {
    Vf v[kAtOnce];
#pragma GCC unroll 8
    for (int j = 0; j < kAtOnce; ++j) v[j] = load(x + i + j * kLanes);
    gelu(v);
#pragma GCC unroll 8
    for (int j = 0; j < kAtOnce; ++j) store(y + i + j * kLanes, v[j]);
  }
  for (; i < n; i += kLanes) {
    const int64_t left = least(kLanes, n - i);
    Vf v[] = {load_n(x + i, left)};
    gelu(v);
    store_n(y + i, left, v[0]);
  }
}

// At most kLanes columns of kRows rows; columns that are left out count as zeros.
template <int kRows, bool kRanged>
ORTOLAN_INLINE void gelu_block(const float* x, int64_t ldx, int64_t left, float* y, int64_t ldy, VectorRange& range) {
  Vf v[kRows];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) v[i] = left == kLanes ? load(x + i * ldx) : load_n(x + i * ldx, left);
  gelu(v);
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
    if constexpr (kRanged) note(range, v[i]);
    left == kLanes ? store(y + i * ldy, v[i]) : store_n(y + i * ldy, left, v[i]);
  }
}

template <bool kRanged>
void gelu_rows_of(const float* x, int64_t ldx, int64_t rows, int64_t n, float* y, int64_t ldy, VectorRange& found) {
  constexpr int kAtOnce = kLanes == 16 ? 8 : 2;
  int64_t row = 0;
  for (; row + kAtOnce <= rows; row += kAtOnce) {
    for (int64_t i = 0; i < n; i += kLanes) {
      gelu_block<kAtOnce, kRanged>(x + row * ldx + i, ldx, least(kLanes, n - i), y + row * ldy + i, ldy, found);
    }
  }
  for (; row < rows; ++row) {
    for (int64_t i = 0; i < n; i += kLanes) {
      gelu_block<1, kRanged>(x + row * ldx + i, ldx, least(kLanes, n - i), y + row * ldy + i, ldy, found);
    }
  }
}

void gelu_rows(const float* x, int64_t ldx, int64_t rows, int64_t n, float* y, int64_t ldy, ValueRange* range) {
  VectorRange found;
  if (range == nullptr) return gelu_rows_of<false>(x, ldx, rows, n, y, ldy, found);
  gelu_rows_of<true>(x, ldx, rows, n, y, ldy, found);
  include_in(range, found);
}

ORTOLAN_INLINE Vf apply_shrink(Vf x, Params p) {
  return select(x < Vf{} - p.p0, x + p.p1, select(x > p.p0, x - p.p1, Vf{}));
}
ORTOLAN_INLINE Vf apply_atan(Vf x, Params) { return atan(x); }
ORTOLAN_INLINE Vf apply_asin(Vf x, Params) { return asin(x); }
ORTOLAN_INLINE Vf apply_acos(Vf x, Params) { return acos(x); }

float library_sin(float x) { return std::sin(x); }
float library_cos(float x) { return std::cos(x); }

/** Whether any lane is set of a mask whose lanes are all ones or zero. */
ORTOLAN_INLINE bool any_lane(Vi mask) {
#if defined(__AVX512F__)
  return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) != 0;
#elif defined(__AVX2__)
  return _mm256_movemask_ps((__m256)mask) != 0;
#else
  return (mask[0] | mask[1] | mask[2] | mask[3]) != 0;
#endif
}
/** sine(x, quarter), but F(x) in the lanes where x is too large for that. */
template <float (*F)(float)>
ORTOLAN_INLINE Vf sine_or(Vf x, int quarter) {
  Vf y = sine(x, quarter);
  const Vi large = ~(vabs(x) <= set1(8192.0f));
  if (!any_lane(large)) return y;
  for (int i = 0; i < kLanes; ++i) {
    if (large[i] != 0) y[i] = F(x[i]);
  }
  return y;
}
/** Zeros keep their sign. */
ORTOLAN_INLINE Vf apply_sin(Vf x, Params) { return select(x == Vf{}, x, sine_or<library_sin>(x, 0)); }
ORTOLAN_INLINE Vf apply_cos(Vf x, Params) { return sine_or<library_cos>(x, 1); }

ORTOLAN_INLINE Vf apply_add(Vf a, Vf b) { return a + b; }
ORTOLAN_INLINE Vf apply_sub(Vf a, Vf b) { return a - b; }
ORTOLAN_INLINE Vf apply_mul(Vf a, Vf b) { return a * b; }
ORTOLAN_INLINE Vf apply_div(Vf a, Vf b) { return a / b; }
ORTOLAN_INLINE Vf apply_min(Vf a, Vf b) { return select(a == a, vmin(a, b), a); }
ORTOLAN_INLINE Vf apply_max(Vf a, Vf b) { return select(a == a, vmax(a, b), a); }
ORTOLAN_INLINE Vf apply_prelu(Vf a, Vf b) { return select(a < Vf{}, a * b, a); }

// `A` and `B` read operand lanes at an index, whole vectors or the first few.
struct Span {
  const float* p;
  Vf at(int64_t i) const { return load(p + i); }
  Vf at_n(int64_t i, int64_t n) const { return load_n(p + i, n); }
};
struct Scalar {
  Vf v;
  Vf at(int64_t) const { return v; }
  Vf at_n(int64_t, int64_t) const { return v; }
};

template <Vf (*F)(Vf, Vf), class A, class B>
ORTOLAN_INLINE void zip(A a, B b, float* y, int64_t n) {
  int64_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    const Vf first = F(a.at(i), b.at(i));
    const Vf second = F(a.at(i + kLanes), b.at(i + kLanes));
    store(y + i, first);
    store(y + i + kLanes, second);
  }
  for (; i < n; i += kLanes) {
    const int64_t left = least(kLanes, n - i);
    store_n(y + i, left, F(a.at_n(i, left), b.at_n(i, left)));
  }
}

template <Vf (*F)(Vf, Vf)>
void zip_vv(const float* a, const float* b, float* y, int64_t n) {
  zip<F>(Span{a}, Span{b}, y, n);
}
template <Vf (*F)(Vf, Vf)>
void zip_vs(const float* a, float b, float* y, int64_t n) {
  zip<F>(Span{a}, Scalar{set1(b)}, y, n);
}
template <Vf (*F)(Vf, Vf)>
void zip_sv(float a, const float* b, float* y, int64_t n) {
  zip<F>(Scalar{set1(a)}, Span{b}, y, n);
}

void scale_shift(const float* x, float a, float b, float* y, int64_t n) {
  const Vf scale = set1(a), shift = set1(b);
  for (int64_t i = 0; i < n; i += kLanes) {
    const int64_t left = least(kLanes, n - i);
    if (left == kLanes) {
      store(y + i, fma(load(x + i), scale, shift));
    } else {
      store_n(y + i, left, fma(load_n(x + i, left), scale, shift));
    }
  }
}

void accumulate_scaled(const float* x, float a, float* y, int64_t n) {
  const Vf scale = set1(a);
  for (int64_t i = 0; i < n; i += kLanes) {
    const int64_t left = least(kLanes, n - i);
    if (left == kLanes) {
      store(y + i, fma(load(x + i), scale, load(y + i)));
    } else {
      store_n(y + i, left, fma(load_n(x + i, left), scale, load_n(y + i, left)));
    }
  }
}

void multiply_add(const float* a, const float* b, const float* c, float* y, int64_t n) {
  for (int64_t i = 0; i < n; i += kLanes) {
    const int64_t left = least(kLanes, n - i);
    if (left == kLanes) {
      store(y + i, fma(load(a + i), load(b + i), load(c + i)));
    } else {
      store_n(y + i, left, fma(load_n(a + i, left), load_n(b + i, left), load_n(c + i, left)));
    }
  }
}

struct Turned {
  Vf first, second;
};
ORTOLAN_INLINE Turned turn(Vf a, Vf b, Vf cosine, Vf sine) {
  return {fma(a, cosine, Vf{} - b * sine), fma(b, cosine, a * sine)};
}

void rotate_halves(const float* x, const float* cosine, const float* sine, int64_t pairs, float* y) {
  int64_t i = 0;
  for (; i + kLanes <= pairs; i += kLanes) {
    const Turned t = turn(load(x + i), load(x + pairs + i), load(cosine + i), load(sine + i));
    store(y + i, t.first);
    store(y + pairs + i, t.second);
  }
  if (i == pairs) return;
  const int64_t left = pairs - i;
  const Turned t =
      turn(load_n(x + i, left), load_n(x + pairs + i, left), load_n(cosine + i, left), load_n(sine + i, left));
  store_n(y + i, left, t.first);
  store_n(y + pairs + i, left, t.second);
}

void rotate_pairs(const float* x, const float* cosine, const float* sine, int64_t pairs, float* y) {
  int64_t i = 0;
  for (; i + kLanes <= pairs; i += kLanes) {
    const Vf low = load(x + 2 * i), high = load(x + 2 * i + kLanes);
    const Turned t = turn(even_lanes(low, high), odd_lanes(low, high), load(cosine + i), load(sine + i));
    store(y + 2 * i, zip_low(t.first, t.second));
    store(y + 2 * i + kLanes, zip_high(t.first, t.second));
  }
  for (; i < pairs; ++i) {
    const float a = x[2 * i], b = x[2 * i + 1];
    y[2 * i] = a * cosine[i] - b * sine[i];
    y[2 * i + 1] = b * cosine[i] + a * sine[i];
  }
}

}  // namespace

extern const VectorF32Kernels kVectorF32;
const VectorF32Kernels kVectorF32 = {
    {map<apply_identity>,
     map<apply_abs>,
     map<apply_neg>,
     map<apply_reciprocal>,
     map<apply_sqrt>,
     map<apply_floor>,
     map<apply_ceil>,
     map<apply_round>,
     map<apply_sign>,
     map<apply_exp>,
     map<apply_log>,
     map<apply_sin>,
     map<apply_cos>,
     map<apply_erf>,
     map<apply_tanh>,
     map<apply_sigmoid>,
     map<apply_softplus>,
     map<apply_softsign>,
     map<apply_relu>,
     map<apply_clip>,
     map<apply_leaky_relu>,
     map<apply_thresholded_relu>,
     map<apply_elu>,
     map<apply_selu>,
     map<apply_celu>,
     map_gelu,
     map<apply_gelu_tanh>,
     map<apply_quick_gelu>,
     map<apply_silu>,
     map<apply_mish>,
     map<apply_hard_sigmoid>,
     map<apply_hard_swish>,
     map<apply_shrink>,
     map<apply_atan>,
     map<apply_asin>,
     map<apply_acos>,
     span_tan,
     span_sinh,
     span_cosh,
     span_asinh,
     span_acosh,
     span_atanh},
    {zip_vv<apply_add>, zip_vv<apply_sub>, zip_vv<apply_mul>, zip_vv<apply_div>, zip_vv<apply_min>, zip_vv<apply_max>,
     zip_vv<apply_prelu>, span_pow},
    {zip_vs<apply_add>, zip_vs<apply_sub>, zip_vs<apply_mul>, zip_vs<apply_div>, zip_vs<apply_min>, zip_vs<apply_max>,
     zip_vs<apply_prelu>, span_pow_scalar},
    {zip_sv<apply_add>, zip_sv<apply_sub>, zip_sv<apply_mul>, zip_sv<apply_div>, zip_sv<apply_min>, zip_sv<apply_max>,
     zip_sv<apply_prelu>, span_scalar_pow},
    scale_shift,
    accumulate_scaled,
    multiply_add,
    rotate_halves,
    rotate_pairs,
    gelu_rows,
};

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
