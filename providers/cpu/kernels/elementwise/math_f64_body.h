// Elementary functions in fp64 for one instruction set, as plain loops without branches, which compilers vectorise.
// The coefficients are those of the Taylor series. Included as vec.h is.
#pragma once

#include "cpu/kernels/elementwise/math_f64_kernels.h"
#include "cpu/kernels/elementwise/spans_f64.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

constexpr double kLn2High = 0x1.62e42fee00000p-1, kLn2Low = 0x1.a39ef35793c76p-33;
constexpr double kRounder = 0x1.8p52;  // added and taken away, it leaves a whole number

ORTOLAN_INLINE uint64_t code_of(double x) { return __builtin_bit_cast(uint64_t, x); }
ORTOLAN_INLINE double of_code(uint64_t code) { return __builtin_bit_cast(double, code); }
ORTOLAN_INLINE double bounded(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

template <int N>
ORTOLAN_INLINE double series(double x, const double (&highest_first)[N]) {
  double sum = highest_first[0];
#pragma GCC unroll 16
  for (int i = 1; i < N; ++i) sum = sum * x + highest_first[i];
  return sum;
}

/** 2^n for whole n within fp64's normal range. */
ORTOLAN_INLINE double power_of_two(double n) { return of_code(code_of(n + (kRounder + 1023)) << 52); }

struct Reduced {
  double n, r;  // x = n*ln2 + r, |r| <= ln2/2
};
ORTOLAN_INLINE Reduced reduce_by_ln2(double x) {
  const double n = (x * 0x1.71547652b82fep0 + kRounder) - kRounder;
  return {n, (x - n * kLn2High) - n * kLn2Low};
}

/** exp(r) - 1 for |r| <= ln2/2. */
ORTOLAN_INLINE double expm1_reduced(double r) {
  constexpr double tail[] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800,
                             1.0 / 362880,     1.0 / 40320,     1.0 / 5040,     1.0 / 720,
                             1.0 / 120,        1.0 / 24,        1.0 / 6,        0.5};
  return r + r * r * series(r, tail);
}

ORTOLAN_INLINE double exp64(double x) {
  const Reduced d = reduce_by_ln2(bounded(x, -746, 710));
  const double half = (d.n * 0.5 + kRounder) - kRounder;  // two factors, so that results may be denormal
  const double y = (1 + expm1_reduced(d.r)) * power_of_two(half) * power_of_two(d.n - half);
  return x != x ? x : y;
}

/** exp(x) - 1 for x in [0, 700]. */
ORTOLAN_INLINE double expm1_positive(double x) {
  const Reduced d = reduce_by_ln2(x);
  const double power = power_of_two(d.n);
  return expm1_reduced(d.r) * power + (power - 1);
}

ORTOLAN_INLINE double log64(double x) {
  constexpr double tail[] = {2.0 / 23, 2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13,
                             2.0 / 11, 2.0 / 9,  2.0 / 7,  2.0 / 5,  2.0 / 3};
  constexpr uint64_t kRootHalf = 0x3fe6a09e667f3bcd, kBias = uint64_t{1023} << 52;
  const bool tiny = x < 0x1p-1022;
  const uint64_t code = code_of(tiny ? x * 0x1p54 : x);
  const uint64_t biased = (code - kRootHalf + kBias) >> 52;
  const double n = of_code(biased | 0x4330000000000000) - (0x1p52 + 1023) - (tiny ? 54 : 0);
  const double f = of_code(code - (biased << 52) + kBias) - 1;
  const double s = f / (2 + f), z = s * s;
  const double half_square = 0.5 * f * f;
  const double y = n * kLn2High - ((half_square - (s * (half_square + z * series(z, tail)) + n * kLn2Low)) - f);
  const double special = x == 0 ? -__builtin_inf() : x > 0 ? x : __builtin_nan("");
  return (x > 0) & (x < __builtin_inf()) ? y : special;
}

/** With the sign of x. */
ORTOLAN_INLINE double signed_as(double magnitude, double x) { return __builtin_copysign(magnitude, x); }

ORTOLAN_INLINE double tanh64(double x) {
  const double a = __builtin_fabs(x);
  const double e = expm1_positive(2 * bounded(a, 0, 22));
  return x != x ? x : signed_as(e / (e + 2), x);
}

ORTOLAN_INLINE double sigmoid64(double x) {
  const double e = exp64(-__builtin_fabs(x));
  return (x < 0 ? e : 1) / (1 + e);
}

struct SineCosine {
  double sine, cosine;
  uint64_t turn;  // quarters, modulo 4
};
constexpr double kLargestAngle = 1e6;

/** |x| <= kLargestAngle. */
ORTOLAN_INLINE SineCosine sine_cosine(double x) {
  constexpr double sine_tail[] = {1.0 / 355687428096000, -1.0 / 1307674368000, 1.0 / 6227020800, -1.0 / 39916800,
                                  1.0 / 362880,          -1.0 / 5040,          1.0 / 120,        -1.0 / 6};
  constexpr double cosine_tail[] = {-1.0 / 6402373705728000, 1.0 / 20922789888000, -1.0 / 87178291200, 1.0 / 479001600,
                                    -1.0 / 3628800,          1.0 / 40320,          -1.0 / 720,         1.0 / 24};
  const double shifted = x * 0x1.45f306dc9c883p-1 + kRounder;
  const double n = shifted - kRounder;
  const double high = x - n * 0x1.921fb54400000p0;  // exact
  const double middle = n * 0x1.0b4611a600000p-34;
  const double near = high - middle;
  const double r = near + (((high - near) - middle) - n * 0x1.3198a2e037073p-69);
  const double z = r * r;
  const double cosine = 1 - (0.5 * z - z * z * series(z, cosine_tail));
  return {r + r * z * series(z, sine_tail), cosine, code_of(shifted)};
}

ORTOLAN_INLINE double turned(const SineCosine& s, uint64_t quarters) {
  const uint64_t turn = s.turn + quarters;
  const double y = turn & 1 ? s.cosine : s.sine;
  return of_code(code_of(y) ^ ((turn & 2) << 62));
}
/** Zeros keep their sign. */
ORTOLAN_INLINE double sin64(double x) { return x == 0 ? x : turned(sine_cosine(x), 0); }
ORTOLAN_INLINE double cos64(double x) { return turned(sine_cosine(x), 1); }
ORTOLAN_INLINE double tan64(double x) {
  const SineCosine s = sine_cosine(x);
  const double y = s.turn & 1 ? -s.cosine / s.sine : s.sine / s.cosine;
  return x == 0 ? x : y;
}

double library_sin(double x) { return std::sin(x); }
double library_cos(double x) { return std::cos(x); }
double library_tan(double x) { return std::tan(x); }

template <class T, double (*kFunction)(double)>
void map(const T* x, T* y, int64_t n) {
#pragma GCC ivdep  // y is x or apart
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(kFunction(x[i]));
}

/** Angles too large for the reduction, infinities and NaN are the library's, one by one. */
template <class T, double (*kFunction)(double), double (*kLibrary)(double)>
void map_angles(const T* x, T* y, int64_t n) {
  constexpr int64_t kBlock = 256;
  T result[kBlock];
  for (int64_t first = 0; first < n; first += kBlock) {
    const int64_t count = least(kBlock, n - first);
    const T* from = x + first;
    int large = 0;
    for (int64_t i = 0; i < count; ++i) large |= !(__builtin_fabs(from[i]) <= kLargestAngle);
    map<T, kFunction>(from, result, count);
    for (int64_t i = 0; large && i < count; ++i) {
      if (!(__builtin_fabs(from[i]) <= kLargestAngle)) result[i] = static_cast<T>(kLibrary(from[i]));
    }
    __builtin_memcpy(y + first, result, static_cast<size_t>(count) * sizeof(T));
  }
}

// The fp32 functions below keep fp32's accuracy where fp64 has cancelled: tiny arguments are their own results.
ORTOLAN_INLINE double sinh32(double x) {
  const double e = expm1_positive(bounded(__builtin_fabs(x), 0, 100));
  return x != x ? x : signed_as(0.5 * (e + e / (e + 1)), x);
}
ORTOLAN_INLINE double cosh32(double x) {
  const double e = exp64(bounded(__builtin_fabs(x), 0, 100));
  return x != x ? x : 0.5 * (e + 1 / e);
}
ORTOLAN_INLINE double asinh32(double x) {
  const double a = __builtin_fabs(x);
  const double y = log64(a + __builtin_sqrt(a * a + 1));
  return x != x || a < 1e-5 ? x * (1 - x * x * (1.0 / 6)) : signed_as(y, x);
}
ORTOLAN_INLINE double acosh32(double x) {
  const double y = log64(x + __builtin_sqrt(x * x - 1));
  return x >= 1 ? y : __builtin_nan("");
}
ORTOLAN_INLINE double atanh32(double x) {
  const double a = __builtin_fabs(x);
  const double y = 0.5 * log64((1 + a) / (1 - a));
  return x != x || a < 1e-5 ? x + x * x * x * (1.0 / 3) : signed_as(y, x);
}

constexpr int64_t kPowerBlock = 256;

/** a^b of finite a > 0; false where the result is near or beyond the ends of fp32's normal range. */
ORTOLAN_INLINE bool power_in_range(double a, double b, double& y) {
  const double exponent = b * log64(a);
  y = exp64(exponent);
  return __builtin_fabs(exponent) < 87;
}

/** Negative bases give NaN or, with whole exponents, a signed result; zeros and extremes are the library's. */
void power_block(const float* a, const float* b, float* y, int64_t n) {
  float result[kPowerBlock];
  uint8_t leave[kPowerBlock];
  int any = 0;
  for (int64_t i = 0; i < n; ++i) {
    const float base = a[i], exponent = b[i];
    double value;
    const bool in_range = power_in_range(__builtin_fabsf(base), exponent, value);
    const float magnitude = static_cast<float>(value);
    const float whole = __builtin_truncf(exponent);
    const float pairs = __builtin_truncf(0.5f * exponent);
    const float sign = whole != exponent ? __builtin_nanf("") : pairs + pairs == exponent ? 1.0f : -1.0f;
    result[i] = base < 0 ? magnitude * sign : magnitude;
    leave[i] = !(in_range & (base != 0));
    any |= leave[i];
  }
  if (any) {
    for (int64_t i = 0; i < n; ++i) {
      if (leave[i]) result[i] = std::pow(a[i], b[i]);
    }
  }
  __builtin_memcpy(y, result, static_cast<size_t>(n) * sizeof(float));
}

/** Quotients below 2^29 are cut exactly in fp64: divisors have 24 bits, so that what lies below a whole number lies
   more than 2^-25 below it, which is half the last place there. Others are the library's. */
void remainders(const float* a, const float* b, float* y, int64_t n) {
  constexpr int64_t kBlock = 256;
  for (int64_t first = 0; first < n; first += kBlock) {
    const int64_t count = least(kBlock, n - first);
    const float *x0 = a + first, *x1 = b + first;
    float result[kBlock];
    int odd = 0;
    for (int64_t i = 0; i < count; ++i) {
      const double dividend = x0[i], divisor = __builtin_fabs(static_cast<double>(x1[i]));
      const double quotient = __builtin_fabs(dividend) / divisor;
      odd |= !((quotient < 0x1p29) & (divisor < __builtin_inf()));
      const double cut = __builtin_trunc(quotient);
      const double rest = __builtin_fabs(dividend) - cut * divisor;
      result[i] = static_cast<float>(signed_as(rest, dividend));
    }
    if (odd) {
      for (int64_t i = 0; i < count; ++i) result[i] = std::fmod(x0[i], x1[i]);
    }
    __builtin_memcpy(y + first, result, static_cast<size_t>(count) * sizeof(float));
  }
}

}  // namespace

void span_tan(const float* x, float* y, int64_t n, float, float) { map_angles<float, tan64, library_tan>(x, y, n); }
void span_sinh(const float* x, float* y, int64_t n, float, float) { map<float, sinh32>(x, y, n); }
void span_cosh(const float* x, float* y, int64_t n, float, float) { map<float, cosh32>(x, y, n); }
void span_asinh(const float* x, float* y, int64_t n, float, float) { map<float, asinh32>(x, y, n); }
void span_acosh(const float* x, float* y, int64_t n, float, float) { map<float, acosh32>(x, y, n); }
void span_atanh(const float* x, float* y, int64_t n, float, float) { map<float, atanh32>(x, y, n); }
void span_pow(const float* a, const float* b, float* y, int64_t n) {
  for (int64_t i = 0; i < n; i += kPowerBlock) power_block(a + i, b + i, y + i, least(kPowerBlock, n - i));
}
void span_pow_scalar(const float* a, float b, float* y, int64_t n) {
  float same[kPowerBlock];
  for (float& value : same) value = b;
  for (int64_t i = 0; i < n; i += kPowerBlock) power_block(a + i, same, y + i, least(kPowerBlock, n - i));
}
void span_scalar_pow(float a, const float* b, float* y, int64_t n) {
  float same[kPowerBlock];
  for (float& value : same) value = a;
  for (int64_t i = 0; i < n; i += kPowerBlock) power_block(same, b + i, y + i, least(kPowerBlock, n - i));
}

extern const MathF64Kernels kMathF64;
const MathF64Kernels kMathF64 = {
    {map<double, exp64>, map<double, log64>, map<double, tanh64>, map<double, sigmoid64>,
     map_angles<double, sin64, library_sin>, map_angles<double, cos64, library_cos>},
    remainders,
};

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
