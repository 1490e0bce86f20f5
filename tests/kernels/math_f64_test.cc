// Tests of functions in fp64 against long double references, on every instruction set.
#include "cpu/kernels/elementwise/math_f64.h"

#include <cstring>
#include <limits>

#include "cpu/kernels/elementwise/vector_f32.h"
#include "isa_test.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/** How far y is from the exact value, in units of the last place of fp64 near it. */
double ulps64(double y, long double exact) {
  const auto nearest = static_cast<double>(exact);
  if (std::isnan(nearest) || std::isinf(nearest)) {
    return y == nearest || (std::isnan(nearest) && std::isnan(y)) ? 0 : HUGE_VAL;
  }
  int exponent;
  std::frexp(std::max(std::fabs(exact), 0x1p-1022L), &exponent);
  return static_cast<double>(std::fabs(y - exact) / std::ldexp(1.0L, exponent - 53));
}

class MathF64 : public IsaTest {
 protected:
  std::vector<double> inputs() {
    std::vector<double> x = {0.0,  -0.0,   kInf,  -kInf,  kNan, 1,    -1,      1e-310, -1e-310, 709.7,
                             -745, -746.1, 710.1, -708.5, 5e5,  -5e5, 1000001, 1e300,  -1e300,  21.9};
    std::uniform_real_distribution<double> unit(-1, 1), exponent(-60, 20);
    for (double scale : {1.0, 30.0, 800.0, 1e5}) {
      for (int i = 0; i < 1500; ++i) x.push_back(scale * unit(random_));
    }
    for (int i = 0; i < 1500; ++i) x.push_back(std::exp2(exponent(random_)) * (i % 2 ? 1 : -1));
    return x;
  }
  static long double exact(MathOp op, long double x) {
    switch (op) {
      case MathOp::kExp:
        return std::exp(x);
      case MathOp::kLog:
        return std::log(x);
      case MathOp::kTanh:
        return std::tanh(x);
      case MathOp::kSigmoid:
        return 1 / (1 + std::exp(-x));
      case MathOp::kSin:
        return std::sin(x);
      default:
        return std::cos(x);
    }
  }
};

TEST_P(MathF64, UnaryFunctionsAreWithinThreeUlps) {
  const std::vector<double> x = inputs();
  std::vector<double> y(x.size());
  for (int op = 0; op < static_cast<int>(MathOp::kCount); ++op) {
    unary(static_cast<MathOp>(op), x.data(), y.data(), static_cast<int64_t>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      const long double want = exact(static_cast<MathOp>(op), x[i]);
      ASSERT_LE(ulps64(y[i], want), 3) << "op " << op << " x " << x[i] << " y " << y[i];
      if (op == static_cast<int>(MathOp::kSin) || op == static_cast<int>(MathOp::kTanh)) {
        ASSERT_EQ(std::signbit(y[i]), std::signbit(static_cast<double>(want))) << x[i];
      }
    }
  }
}

TEST_P(MathF64, TailsTouchNothingElse) {
  for (int64_t n = 0; n < 40; ++n) {
    std::vector<double> x(n, 0.5), y(n + 1, 77);
    unary(MathOp::kExp, x.data(), y.data(), n);
    for (int64_t i = 0; i < n; ++i) ASSERT_EQ(ulps64(y[i], std::exp(0.5L)) < 2, true);
    EXPECT_EQ(y[n], 77);
  }
}

TEST_P(MathF64, RemaindersAreExact) {
  const float edges[] = {0, -0.0f, 1, -1, 3, -3, 1e-40f, HUGE_VALF, -HUGE_VALF, NAN};
  std::vector<float> a, b;
  for (float x : edges) {
    for (float y : edges) a.push_back(x), b.push_back(y);
  }
  while (a.size() < 300) a.push_back(1), b.push_back(2);  // the numbers below stay out of the edges' blocks
  while (a.size() < 6000) {
    const bool whole = integer(0, 3) == 0;
    const float x = normal(1, 100)[0] * static_cast<float>(integer(1, 1 << 20)), y = normal(1, 10)[0];
    a.push_back(whole ? std::floor(x) : x);
    b.push_back(whole ? std::floor(y) + 0.5f : y);
  }
  std::vector<float> y(a.size());
  remainders(a.data(), b.data(), y.data(), static_cast<int64_t>(a.size()));
  for (size_t i = 0; i < a.size(); ++i) {
    const float want = std::fmod(a[i], b[i]);
    ASSERT_TRUE((std::isnan(want) && std::isnan(y[i])) || std::memcmp(&want, &y[i], 4) == 0)
        << a[i] << " mod " << b[i] << " gave " << y[i] << ", not " << want;
  }
}

TEST_P(MathF64, PowersOfAllKinds) {
  const float edges[] = {0, -0.0f, 1, -1, 2, -2, 3, -3, 0.5f, -0.5f, 1e-40f, 3e38f, HUGE_VALF, -HUGE_VALF, NAN, 1e9f};
  std::vector<float> a, b;
  for (float x : edges) {
    for (float y : edges) a.push_back(x), b.push_back(y);
  }
  for (int i = 0; i < 4000; ++i) {
    a.push_back(normal(1, 20)[0]);
    b.push_back(i % 2 ? normal(1, 8)[0] : std::floor(normal(1, 8)[0]));
  }
  std::vector<float> y(a.size());
  binary(BinaryOp::kPow, a.data(), b.data(), y.data(), static_cast<int64_t>(a.size()));
  for (size_t i = 0; i < a.size(); ++i) {
    const double want = std::pow(double{a[i]}, double{b[i]});
    ASSERT_LE(ulps(y[i], want), 0.51) << a[i] << " to the " << b[i] << " gave " << y[i] << ", not " << want;
    ASSERT_TRUE(std::isnan(want) || std::signbit(y[i]) == std::signbit(want)) << a[i] << " to the " << b[i];
  }
}

ORTOLAN_FOR_EACH_ISA(MathF64);

}  // namespace
}  // namespace ortolan::cpu::kernels
