// Passes of Fourier transforms for one instruction set. Included as vec.h is.
#pragma once

#include "cpu/kernels/transforms/fourier_kernels.h"
#include "cpu/kernels/vectors/vec_f64.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

// Numbers are taken a vector at a time, and one at a time at the end of a row.
ORTOLAN_INLINE void read_number(const double* p, Vd& v) { v = load_doubles(p); }
ORTOLAN_INLINE void read_number(const double* p, double& v) { v = *p; }
ORTOLAN_INLINE void write_number(double* p, Vd v) { store_doubles(p, v); }
ORTOLAN_INLINE void write_number(double* p, double v) { *p = v; }

template <class F>
ORTOLAN_INLINE void each_number(int64_t first, int64_t last, F f) {
  int64_t i = first;
  for (; i + kDoubles <= last; i += kDoubles) f(i, Vd{});
  for (; i < last; ++i) f(i, double{});
}

template <class V>
struct ComplexOf {
  V re, im;
};
template <class V>
ORTOLAN_INLINE ComplexOf<V> operator+(ComplexOf<V> a, ComplexOf<V> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class V>
ORTOLAN_INLINE ComplexOf<V> operator-(ComplexOf<V> a, ComplexOf<V> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class V>
ORTOLAN_INLINE ComplexOf<V> operator*(ComplexOf<V> a, double scale) {
  return {a.re * scale, a.im * scale};
}
template <class V>
ORTOLAN_INLINE ComplexOf<V> turned(ComplexOf<V> a, const double* factor) {
  return {a.re * factor[0] - a.im * factor[1], a.re * factor[1] + a.im * factor[0]};
}
// -i times the number.
template <class V>
ORTOLAN_INLINE ComplexOf<V> quarter(ComplexOf<V> a) {
  return {a.im, -a.re};
}

template <class V>
ORTOLAN_INLINE ComplexOf<V> read_complex(const FourierPlanes& x, int64_t at) {
  ComplexOf<V> v;
  read_number(x.re + at, v.re);
  read_number(x.im + at, v.im);
  return v;
}
template <class V>
ORTOLAN_INLINE void write_complex(const FourierPlanes& y, int64_t at, ComplexOf<V> v) {
  write_number(y.re + at, v.re);
  write_number(y.im + at, v.im);
}

// The transform of kRadix numbers, in place.
template <class V>
ORTOLAN_INLINE void transform(ComplexOf<V> (&x)[2]) {
  const ComplexOf<V> a = x[0];
  x[0] = a + x[1], x[1] = a - x[1];
}
template <class V>
ORTOLAN_INLINE void transform(ComplexOf<V> (&x)[3]) {
  constexpr double kSine = 0.86602540378443864676;  // of 120 degrees
  const ComplexOf<V> sum = x[1] + x[2], middle = x[0] - sum * 0.5, side = quarter((x[1] - x[2]) * kSine);
  x[0] = x[0] + sum, x[1] = middle + side, x[2] = middle - side;
}
template <class V>
ORTOLAN_INLINE void transform(ComplexOf<V> (&x)[4]) {
  const ComplexOf<V> a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = quarter(x[1] - x[3]);
  x[0] = a + c, x[1] = b + d, x[2] = a - c, x[3] = b - d;
}
template <class V>
ORTOLAN_INLINE void transform(ComplexOf<V> (&x)[5]) {
  constexpr double kCosine1 = 0.30901699437494742410, kCosine2 = -0.80901699437494742410;  // of 72, 144 degrees
  constexpr double kSine1 = 0.95105651629515357212, kSine2 = 0.58778525229247312917;
  const ComplexOf<V> sum1 = x[1] + x[4], sum2 = x[2] + x[3], less1 = x[1] - x[4], less2 = x[2] - x[3];
  const ComplexOf<V> middle1 = x[0] + sum1 * kCosine1 + sum2 * kCosine2;
  const ComplexOf<V> middle2 = x[0] + sum1 * kCosine2 + sum2 * kCosine1;
  const ComplexOf<V> side1 = quarter(less1 * kSine1 + less2 * kSine2), side2 = quarter(less1 * kSine2 - less2 * kSine1);
  x[0] = x[0] + sum1 + sum2;
  x[1] = middle1 + side1, x[4] = middle1 - side1, x[2] = middle2 + side2, x[3] = middle2 - side2;
}

template <int kRadix>
void pass_of(const FourierPass& f, int64_t begin, int64_t end, int64_t first, int64_t last) {
  for (int64_t p = begin; p < end; ++p) {
    const double* turns = f.turns + 2 * (kRadix - 1) * p;
    each_number(
        first, last, [&]<class V>(int64_t i, V) __attribute__((always_inline)) {
          ComplexOf<V> x[kRadix];
#pragma GCC unroll 5
          for (int t = 0; t < kRadix; ++t) x[t] = read_complex<V>(f.x, (t * f.points + p) * f.run + i);
          transform(x);
          write_complex(f.y, p * kRadix * f.run + i, x[0]);
#pragma GCC unroll 5
          for (int u = 1; u < kRadix; ++u) {
            write_complex(f.y, (p * kRadix + u) * f.run + i, turned(x[u], turns + 2 * (u - 1)));
          }
        });
  }
}

// An odd radix: numbers that lie opposite each other share their products.
void pass_of_any(const FourierPass& f, int64_t begin, int64_t end, int64_t first, int64_t last) {
  constexpr int64_t kMost = FourierKernels::kLargestRadix / 2 + 1;
  const int64_t radix = f.radix, half = radix / 2;
  for (int64_t p = begin; p < end; ++p) {
    const double* turns = f.turns + 2 * (radix - 1) * p;
    each_number(
        first, last, [&]<class V>(int64_t i, V) __attribute__((always_inline)) {
          const auto at = [&](int64_t t) { return read_complex<V>(f.x, (t * f.points + p) * f.run + i); };
          ComplexOf<V> sums[kMost], less[kMost], all = at(0);
          sums[0] = all;
          for (int64_t j = 1; j <= half; ++j) {
            const ComplexOf<V> a = at(j), b = at(radix - j);
            sums[j] = a + b, less[j] = a - b;
            all = all + sums[j];
          }
          write_complex(f.y, p * radix * f.run + i, all);
          for (int64_t u = 1; u <= half; ++u) {
            ComplexOf<V> middle = sums[0], side = {};
            for (int64_t j = 1; j <= half; ++j) {
              const double* root = f.roots + 2 * (u * j % radix);
              middle = middle + sums[j] * root[0];
              side = side - less[j] * root[1];
            }
            side = quarter(side);
            write_complex(f.y, (p * radix + u) * f.run + i, turned(middle + side, turns + 2 * (u - 1)));
            write_complex(f.y, (p * radix + radix - u) * f.run + i, turned(middle - side, turns + 2 * (radix - u - 1)));
          }
        });
  }
}

void any_pass(const FourierPass& f, int64_t begin, int64_t end, int64_t first, int64_t last) {
  if (f.radix == 4) return pass_of<4>(f, begin, end, first, last);
  if (f.radix == 2) return pass_of<2>(f, begin, end, first, last);
  if (f.radix == 3) return pass_of<3>(f, begin, end, first, last);
  if (f.radix == 5) return pass_of<5>(f, begin, end, first, last);
  pass_of_any(f, begin, end, first, last);
}

void turn(int64_t rows, int64_t run, const FourierPlanes& x, const double* factors, const FourierPlanes& y) {
  for (int64_t k = 0; k < rows; ++k) {
    each_number(
        k * run, (k + 1) * run, [&]<class V>(int64_t i, V) __attribute__((always_inline)) {
          write_complex(y, i, turned(read_complex<V>(x, i), factors + 2 * k));
        });
  }
}

void unfold(int64_t half, int64_t begin, int64_t end, int64_t run, const FourierPlanes& z, const double* factors,
            const FourierPlanes& y) {
  for (int64_t k = begin; k < end; ++k) {
    const int64_t row = k == half ? 0 : k, opposite = k == 0 ? 0 : half - k;
    each_number(
        0, run, [&]<class V>(int64_t i, V) __attribute__((always_inline)) {
          const ComplexOf<V> a = read_complex<V>(z, row * run + i), b = read_complex<V>(z, opposite * run + i);
          const ComplexOf<V> even = {a.re + b.re, a.im - b.im}, odd = {a.re - b.re, a.im + b.im};
          write_complex(y, k * run + i, (even + turned(odd, factors + 2 * k)) * 0.5);
        });
  }
}

}  // namespace

extern const FourierKernels kFourier;
const FourierKernels kFourier = {.lanes = kDoubles, .pass = any_pass, .turn = turn, .unfold = unfold};

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
