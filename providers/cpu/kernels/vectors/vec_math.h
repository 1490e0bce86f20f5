// Elementary functions on vectors, a few units in the last place. Included as vec.h is. The polynomials are Chebyshev
// fits computed in 40 digits on the intervals named beside them.
#pragma once

#include "cpu/kernels/vectors/vec.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {

template <int N>
ORTOLAN_INLINE Vf polynomial(Vf x, const float (&highest_first)[N]) {
  Vf sum = set1(highest_first[0]);
#pragma GCC unroll 12
  for (int i = 1; i < N; ++i) sum = fma(sum, x, set1(highest_first[i]));
  return sum;
}

/** x = n*ln2 + r with |r| <= ln2/2. */
ORTOLAN_INLINE Vf reduce_ln2(Vf x, Vf& n) {
  n = rint(x * set1(1.44269504f));
  const Vf r = fma(n, set1(-0.693359375f), x);
  return fma(n, set1(2.12194440e-4f), r);
}

constexpr float kExpTail[] = {0.0013926376f, 0.00836333308f, 0.0416665535f, 0.166665761f, 0.5f};  // |r| < 0.3475

/** exp(x) for x in [lowest, 89], elsewhere that of the nearer end. */
ORTOLAN_INLINE Vf exp_from(float lowest, Vf x) {
  Vf n;
  const Vf r = reduce_ln2(vmax(set1(lowest), vmin(set1(89.0f), x)), n);
  const Vf p = fma(polynomial(r, kExpTail), r * r, r) + set1(1.0f);
  return scale2(p, n);
}

ORTOLAN_INLINE Vf exp(Vf x) { return exp_from(-104.0f, x); }

// What gates, weights and activations come down to is 0 where it would be denormal: it changes no sum that it goes
// into, and arithmetic with a denormal takes many times as long on most processors. Products of a linear unit's input
// vanish sooner, so that what they are multiplied by next makes no denormals either.

constexpr float kExpVanishes = -87.33654f;  // exp is normal from here on
constexpr float kUnitVanishes = -69.3f;     // exp is 2^-100 here: of linear units' inputs no more is kept
constexpr float kErfcVanishes = 11.48f;     // erfc(a/sqrt(2))/2 is 2^-100 here

/** exp(x), but 0 below. */
ORTOLAN_INLINE Vf vanishing_exp(Vf x, float vanishes = kExpVanishes) {
  return select(x < set1(vanishes), Vf{}, exp_from(vanishes, x));
}

/** exp(x) - 1 without cancellation. */
ORTOLAN_INLINE Vf expm1(Vf x) {
  const Vf bounded = vmax(set1(-30.0f), vmin(set1(89.0f), x));
  Vf n;
  const Vf r = reduce_ln2(bounded, n);
  const Vf p = fma(polynomial(r, kExpTail), r * r, r);
  const Vf power = scale2(set1(1.0f), n);
  const Vf wide = scale2(p + set1(1.0f), n) - set1(1.0f);
  return select(x < set1(40.0f), select(n == Vf{}, p, fma(p, power, power - set1(1.0f))), wide);
}

ORTOLAN_INLINE Vf log(Vf x) {
  constexpr float tail[] = {0.0697161147f, -0.114797338f, 0.116854199f, -0.124256873f, 0.142490576f,
                            -0.166678023f, 0.200007157f,  -0.24999997f, 0.333333312f};  // [sqrt(1/2)-1, sqrt(2)-1]
  const Vi tiny = x < set1(1.17549435e-38f);
  const Vi i = bits(select(tiny, x * set1(33554432.0f), x));
  const Vi e = (i - 0x3f3504f3) >> 23;
  const Vf m = from_bits(i - (e << 23));
  const Vf n = to_float(e) - select(tiny, set1(25.0f), Vf{});
  const Vf f = m - set1(1.0f);
  const Vf square = f * f;
  Vf y = polynomial(f, tail) * square * f;
  y = fma(n, set1(-2.12194440e-4f), y);
  y = fma(square, set1(-0.5f), y);
  y = fma(n, set1(0.693359375f), f + y);
  const float infinity = __builtin_inff();
  y = select(x == set1(infinity), x, y);
  y = select(x == Vf{}, set1(-infinity), y);
  return select(x >= Vf{}, y, set1(__builtin_nanf("")));
}

/** log(1 + x) for x in [0, 1]. */
ORTOLAN_INLINE Vf log1p_unit(Vf x) {
  const Vf u = set1(1.0f) + x;
  return log(u) + (x - (u - set1(1.0f))) / u;
}

ORTOLAN_INLINE Vf erf(Vf x) {
  constexpr float near[] = {8.35189708e-5f, -0.000813879239f, 0.00520072967f, -0.0268592973f,
                            0.112836941f,   -0.376126337f,    1.12837917f};  // erf(x)/x in x^2 on [0, 0.86]
  constexpr float far[] = {1.64356965e-6f, -4.61779128e-5f, 0.000597743472f, -0.00476357525f, 0.0264310176f,
                           -0.110094481f,  -0.631814517f,   -1.13023762f,    0.000320441531f};  // log erfc on [0.92, 4]
  const Vf a = vmin(set1(4.0f), vabs(x));
  const Vf small = polynomial(a * a, near) * a;
  const Vf large = set1(1.0f) - exp(polynomial(a, far));
  return with_sign(select(a < set1(0.925f), small, large), x);
}

ORTOLAN_INLINE Vf tanh(Vf x) {
  constexpr float tail[] = {-0.0060451651f, 0.0209613291f, -0.0538432632f, 0.133327188f,
                            -0.333333284f};  // (tanh(x)/x - 1)/x^2 in x^2 on [0, 0.4]
  const Vf a = vabs(x);
  const Vf square = a * a;
  const Vf small = fma(polynomial(square, tail) * square, a, a);
  const Vf large = set1(1.0f) - set1(2.0f) / (exp(a + a) + set1(1.0f));
  return with_sign(select(a < set1(0.625f), small, large), x);
}

/** 1/(1 + exp(-x)) as 2^power/denominator, both of moderate size: a quotient is scaled last. */
struct Logistic {
  Vf denominator, power;
};

ORTOLAN_INLINE Logistic logistic(Vf x) {
  constexpr float minus_exp[] = {0.0013926376f, -0.00836333308f, 0.0416665535f, -0.166665761f,
                                 0.5f,          -1.0f,           1.0f};  // exp(-s) for |s| < 0.3475
  const Vf whole = set1(12582912.0f);  // 1.5*2^23: a sum with it is a whole number, whose low bits are the sum's
  const Vf bounded = vmin(set1(87.0f), x);
  const Vf sum = fma(bounded, set1(-1.44269504f), whole);
  const Vf n = sum - whole;
  const Vf s = fma(n, set1(-2.12194440e-4f), fma(n, set1(0.693359375f), bounded));
  const Vf part = vmin(whole + set1(64.0f), sum);
  const Vf e = from_bits(bits(polynomial(s, minus_exp)) + (bits(part) << 23));
  return {set1(1.0f) + e, part - sum};
}

ORTOLAN_INLINE Vf sigmoid(Vf x) {
  const Logistic f = logistic(vmax(set1(kExpVanishes), x));
  return select(x < set1(kExpVanishes), Vf{}, scale2(set1(1.0f) / f.denominator, f.power));
}

/** x * sigmoid(x). */
ORTOLAN_INLINE Vf silu(Vf x) {
  const Vf bounded = vmax(set1(kUnitVanishes), x);
  const Logistic f = logistic(bounded);
  return select(x < set1(kUnitVanishes), set1(-0.0f), scale2(bounded / f.denominator, f.power));
}

ORTOLAN_INLINE Vf softplus(Vf x) { return vmax(Vf{}, x) + log1p_unit(vanishing_exp(from_bits(bits(x) | INT32_MIN))); }

/** y = polynomial(x) of W vectors, which take their steps together, since each waits for the one before. */
template <int W, int N>
ORTOLAN_INLINE void polynomials(const Vf (&x)[W], const float (&highest_first)[N], Vf (&y)[W]) {
#pragma GCC unroll 8
  for (int i = 0; i < W; ++i) y[i] = set1(highest_first[0]);
#pragma GCC unroll 12
  for (int c = 1; c < N; ++c) {
#pragma GCC unroll 8
    for (int i = 0; i < W; ++i) y[i] = fma(y[i], x[i], set1(highest_first[c]));
  }
}

/** vanishing_exp(x) of W vectors, none above 0. */
template <int W>
ORTOLAN_INLINE void exp_of_negatives(Vf (&x)[W]) {
  Vf r[W], n[W], y[W];
#pragma GCC unroll 8
  for (int i = 0; i < W; ++i) r[i] = reduce_ln2(vmax(set1(kExpVanishes), x[i]), n[i]);
  polynomials(r, kExpTail, y);
#pragma GCC unroll 8
  for (int i = 0; i < W; ++i) y[i] = fma(y[i], r[i] * r[i], r[i]) + set1(1.0f);
#pragma GCC unroll 8
  for (int i = 0; i < W; ++i) x[i] = select(x[i] < set1(kExpVanishes), Vf{}, add_to_exponent(y[i], n[i]));
}

/** x/2 * (1 + erf(x/sqrt(2))) of W vectors as max(x, 0) - |x|/2 * erfc(|x|/sqrt(2)): no difference of near values. */
template <int W>
ORTOLAN_INLINE void gelu(Vf (&x)[W]) {
  constexpr float log_erfc[] = {-1.33885765e-8f, 5.47580669e-7f,  -8.64791491e-6f, 6.77933931e-5f,
                                -0.00026139486f, -2.33595492e-5f, 0.00696608331f,  -0.0524514802f,
                                -0.459217757f,   -1.15110457f};  // log2(erfc(a/sqrt(2)))/a on [0, 14.7], nearest where
                                                                 // erfc is large
  constexpr float power[] = {-0.5f * 0.000154763024f,
                             -0.5f * 0.00134002755f,
                             -0.5f * 0.00961800385f,
                             -0.5f * 0.055503279f,
                             -0.5f * 0.240226507f,
                             -0.5f * 0.693147182f,
                             -0.5f};  // -1/2 * 2^r on [-1/2, 1/2]
  Vf a[W], r[W], n[W], y[W];
#pragma GCC unroll 8
  for (int i = 0; i < W; ++i) a[i] = vmin(set1(kErfcVanishes), vabs(x[i]));
  polynomials(a, log_erfc, r);
#pragma GCC unroll 8
  for (int i = 0; i < W; ++i) r[i] = r[i] * a[i];
#pragma GCC unroll 8
  for (int i = 0; i < W; ++i) n[i] = rint(r[i]);
#pragma GCC unroll 8
  for (int i = 0; i < W; ++i) r[i] = r[i] - n[i];
  polynomials(r, power, y);
#pragma GCC unroll 8
  for (int i = 0; i < W; ++i) y[i] = select(vabs(x[i]) > set1(kErfcVanishes), Vf{}, add_to_exponent(y[i], n[i]));
#pragma GCC unroll 8
  for (int i = 0; i < W; ++i) x[i] = fma(a[i], y[i], vmax(Vf{}, x[i]));
}

/** x * sigmoid(2u), where u is the argument of tanh, as max(x, 0) - |x| * sigmoid(-2|u|). */
ORTOLAN_INLINE Vf gelu_tanh(Vf x) {
  const Vf a = vmin(set1(1e10f), vabs(x));
  const Vf e = vanishing_exp(a * set1(-1.59576912f) * fma(a * a, set1(0.044715f), set1(1.0f)), kUnitVanishes);
  return vmax(Vf{}, x) - a * (e / (set1(1.0f) + e));
}

ORTOLAN_INLINE Vf atan(Vf x) {
  constexpr float tail[] = {0.00152672775f, -0.00931730602f, 0.0266320494f, -0.0492950701f,
                            0.0705189941f,  -0.0893885727f,  0.110896555f,  -0.142841429f,
                            0.199999547f,   -0.333333331f};  // (atan(x)/x - 1)/x^2 in x^2 on [0, 1]
  const Vf a = vabs(x);
  const Vi beyond = a > set1(1.0f);
  const Vf t = select(beyond, set1(1.0f) / a, a);
  const Vf square = t * t;
  const Vf y = fma(polynomial(square, tail) * square, t, t);
  const Vf rest = (set1(1.57079637f) - y) - set1(4.37113883e-8f);
  return with_sign(select(beyond, rest, y), x);
}

/** asin(sqrt(square)) for the root of `square`, which is at most 1/4. */
ORTOLAN_INLINE Vf asin_of_root(Vf root, Vf square) {
  constexpr float tail[] = {0.0338057489f, 0.017077859f,  0.0311161565f,
                            0.0445980322f, 0.0750009876f, 0.166666663f};  // (asin(x)/x - 1)/x^2 in x^2 on [0, 1/2]
  return fma(polynomial(square, tail) * square, root, root);
}

ORTOLAN_INLINE Vf asin(Vf x) {
  const Vf a = vabs(x);
  const Vi far = a > set1(0.5f);
  const Vf square = select(far, fma(a, set1(-0.5f), set1(0.5f)), a * a);  // of the sine of half the rest of the angle
  const Vf y = asin_of_root(select(far, vsqrt(square), a), square);
  return with_sign(select(far, fma(y, set1(-2.0f), set1(1.57079637f)) - set1(4.37113883e-8f), y), x);
}

ORTOLAN_INLINE Vf acos(Vf x) {
  const Vf a = vabs(x);
  const Vi far = a > set1(0.5f);
  const Vf square = select(far, fma(a, set1(-0.5f), set1(0.5f)), a * a);
  const Vf y = asin_of_root(select(far, vsqrt(square), a), square);
  const Vf twice = y + y;
  const Vf from_far = select(x < Vf{}, (set1(3.14159274f) - twice) - set1(8.74227766e-8f), twice);
  const Vf from_near = set1(1.57079637f) - (with_sign(y, x) + set1(4.37113883e-8f));
  return select(far, from_far, from_near);
}

/** x - n*pi/2 for whole n of up to 13 bits that leave at most a quarter turn: to the last place, also where next to
    nothing of x is left. The first steps are exact: of fused ones as what they leave is short, of others as the
   products are. */
ORTOLAN_INLINE Vf less_quarter_turns(Vf x, Vf n) {
#if defined(__AVX2__)
  const Vf r = fma(n, set1(-1.57079637f), x);
  return fma(n, set1(1.71512451e-15f), fma(n, set1(4.37113883e-8f), r));
#else
  Vf r = fma(n, set1(-1.5703125f), x);
  r = fma(n, set1(-4.837512969970703125e-4f), r);
  r = fma(n, set1(-7.54953362e-8f), r);
  return fma(n, set1(-2.56334407e-12f), r);
#endif
}

/** sin(x), or cos(x) where `quarter` is 1; |x| up to 8192. */
ORTOLAN_INLINE Vf sine(Vf x, int quarter) {
  constexpr float sin_tail[] = {2.72468687e-6f, -0.00019840063f, 0.00833333183f, -0.166666667f};  // [0, pi/4]
  constexpr float cos_tail[] = {-2.72984077e-7f, 2.48005806e-5f, -0.00138888876f, 0.0416666667f};
  const Vf whole = set1(12582912.0f);  // 1.5*2^23: a sum with it is a whole number, whose low bits are the sum's
  const Vf sum = fma(x, set1(0.636619772f), whole);
  const Vf r = less_quarter_turns(x, sum - whole);
  const Vf square = r * r;
  const Vf s = fma(polynomial(square, sin_tail) * square, r, r);
  const Vf c = fma(polynomial(square, cos_tail), square * square, fma(square, set1(-0.5f), set1(1.0f)));
  const Vi turn = bits(sum) + quarter;
  const Vf y = select((turn & 1) == 0, s, c);
  return from_bits(bits(y) ^ ((turn & 2) << 30));
}

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
