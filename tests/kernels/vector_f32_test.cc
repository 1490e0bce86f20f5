// Tests of elementwise fp32 functions against double references, on every instruction set.
#include "cpu/kernels/elementwise/vector_f32.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "isa_test.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

double sigmoid(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }
double elu(double x, double a) { return x < 0 ? a * std::expm1(x) : x; }

// A function of x with the parameters p0 and p1.
using Exact = double (*)(double x, double p0, double p1);

constexpr struct {
  UnaryOp op;
  Exact function;
} kExact[] = {
    {UnaryOp::kIdentity, [](double x, double, double) { return x; }},
    {UnaryOp::kAbs, [](double x, double, double) { return std::fabs(x); }},
    {UnaryOp::kNeg, [](double x, double, double) { return -x; }},
    {UnaryOp::kReciprocal, [](double x, double, double) { return 1 / x; }},
    {UnaryOp::kSqrt, [](double x, double, double) { return std::sqrt(x); }},
    {UnaryOp::kFloor, [](double x, double, double) { return std::floor(x); }},
    {UnaryOp::kCeil, [](double x, double, double) { return std::ceil(x); }},
    {UnaryOp::kRound, [](double x, double, double) { return std::nearbyint(x); }},
    {UnaryOp::kSign, [](double x, double, double) { return double((x > 0) - (x < 0)); }},
    {UnaryOp::kExp, [](double x, double, double) { return std::exp(x); }},
    {UnaryOp::kLog, [](double x, double, double) { return std::log(x); }},
    {UnaryOp::kSin, [](double x, double, double) { return std::sin(x); }},
    {UnaryOp::kCos, [](double x, double, double) { return std::cos(x); }},
    {UnaryOp::kErf, [](double x, double, double) { return std::erf(x); }},
    {UnaryOp::kTanh, [](double x, double, double) { return std::tanh(x); }},
    {UnaryOp::kSigmoid, [](double x, double, double) { return sigmoid(x); }},
    {UnaryOp::kSoftplus, [](double x, double, double) { return softplus(x); }},
    {UnaryOp::kSoftsign,
     [](double x, double, double) { return std::isinf(x) ? std::copysign(1.0, x) : x / (1 + std::fabs(x)); }},
    {UnaryOp::kRelu, [](double x, double, double) { return std::max(x, 0.0); }},
    {UnaryOp::kClip, [](double x, double p0, double p1) { return std::min(std::max(x, p0), p1); }},
    {UnaryOp::kLeakyRelu, [](double x, double p0, double) { return x < 0 ? p0 * x : x; }},
    {UnaryOp::kThresholdedRelu, [](double x, double p0, double) { return x > p0 ? x : 0; }},
    {UnaryOp::kElu, [](double x, double p0, double) { return elu(x, p0); }},
    {UnaryOp::kSelu, [](double x, double p0, double p1) { return p1 * elu(x, p0); }},
    {UnaryOp::kCelu, [](double x, double p0, double) { return x < 0 ? p0 * std::expm1(x / p0) : x; }},
    {UnaryOp::kGelu, [](double x, double, double) { return x == -kInf ? 0 : x / 2 * std::erfc(-x / std::sqrt(2.0)); }},
    {UnaryOp::kGeluTanh,
     [](double x, double, double) {
       return x == -kInf ? 0 : x * sigmoid(2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x));
     }},
    {UnaryOp::kQuickGelu, [](double x, double p0, double) { return x == -kInf ? 0 : x * sigmoid(p0 * x); }},
    {UnaryOp::kSilu, [](double x, double, double) { return x == -kInf ? 0 : x * sigmoid(x); }},
    {UnaryOp::kMish, [](double x, double, double) { return x == -kInf ? 0 : x * std::tanh(softplus(x)); }},
    {UnaryOp::kHardSigmoid, [](double x, double p0, double p1) { return std::clamp(p0 * x + p1, 0.0, 1.0); }},
    {UnaryOp::kHardSwish,
     [](double x, double, double) { return x == -kInf ? 0 : x * std::clamp(x / 6 + 0.5, 0.0, 1.0); }},
    {UnaryOp::kShrink, [](double x, double p0, double p1) { return x < -p0  ? x + p1
                                                                   : x > p0 ? x - p1
                                                                            : 0; }},
    {UnaryOp::kAtan, [](double x, double, double) { return std::atan(x); }},
    {UnaryOp::kAsin, [](double x, double, double) { return std::asin(x); }},
    {UnaryOp::kAcos, [](double x, double, double) { return std::acos(x); }},
    {UnaryOp::kTan, [](double x, double, double) { return std::tan(x); }},
    {UnaryOp::kSinh, [](double x, double, double) { return std::sinh(x); }},
    {UnaryOp::kCosh, [](double x, double, double) { return std::cosh(x); }},
    {UnaryOp::kAsinh, [](double x, double, double) { return std::asinh(x); }},
    {UnaryOp::kAcosh, [](double x, double, double) { return std::acosh(x); }},
    {UnaryOp::kAtanh, [](double x, double, double) { return std::atanh(x); }},
};
static_assert(std::size(kExact) == static_cast<size_t>(UnaryOp::kCount));

double exact(Activation op, double x) {
  if (std::isnan(x) && op.op != UnaryOp::kShrink) return x;
  const auto& row = kExact[static_cast<size_t>(op.op)];
  EXPECT_EQ(row.op, op.op);  // rows stand in the order of the enumeration
  return row.function(x, op.p0, op.p1);
}

Activation with_parameters(int op) {
  Activation activation{static_cast<UnaryOp>(op), 0.3f, 0.9f};
  if (activation.op == UnaryOp::kClip) activation.p0 = -0.7f;
  return activation;
}

/** By how many halves of its last place the result moves where x does by one: the least that functions of a rounded
    product or sum can be held to. */
double condition(Activation op, double x) {
  const double step = 1e-6 * std::fabs(x), y = exact(op, x);
  return y == 0 ? 0 : std::fabs(x * (exact(op, x + step) - exact(op, x - step)) / (2 * step * y));
}

/** Functions of x that are taken from another function of a polynomial of x. */
bool is_composed(UnaryOp op) { return op == UnaryOp::kGeluTanh || op == UnaryOp::kQuickGelu || op == UnaryOp::kMish; }

bool through_doubles(UnaryOp op) { return op >= UnaryOp::kTan && op <= UnaryOp::kAtanh; }

/** Units in the last place that op(x) may be off. */
double limit(Activation op, double x, base::IsaLevel isa) {
  if (through_doubles(op.op)) return 0.51;
  if (!is_composed(op.op) || !std::isfinite(x) || x == 0) return 5;
  const bool of_denormal = std::fabs(exact(op, x)) < std::fabs(x) * 0x1p-126;  // x times a denormal
  const int roundings = fuses(isa) ? 2 : 3;  // of the inner argument; a sum takes its product in
  return 5 + condition(op, x) * roundings / 2 + (of_denormal ? std::fabs(x) : 0);
}

/** What the definition in fp32 cannot do without: the rounding of erf next to -1, times |x|/2; or that of a product
   which the instruction set does not fuse with the sum that takes it away. */
double error_of_definition(Activation op, double x, base::IsaLevel isa) {
  if (op.op == UnaryOp::kGelu && x < 0 && std::isfinite(x)) return std::fabs(x) * 0x1p-26;
  return op.op == UnaryOp::kHardSigmoid && !fuses(isa) ? std::fabs(op.p0 * x) * 0x1p-24 : 0;
}

/** Where functions that come down to nothing have done so: 0 is right for results below, and no result is denormal. */
double vanishing(UnaryOp op, double x) {
  if (op == UnaryOp::kSigmoid || op == UnaryOp::kSoftplus) return 1.0001 * 0x1p-126;
  const bool of_linear_unit = is_composed(op) || op == UnaryOp::kSilu || op == UnaryOp::kGelu;
  return of_linear_unit ? 1.05 * 0x1p-100 * std::fabs(x) : 0;
}

/** Arguments next to multiples of a quarter turn, of which next to nothing is left. */
std::vector<float> whole_quarters() {
  std::vector<float> x;
  for (int n = 1; n < 5400; ++n) {
    const auto nearest = static_cast<float>(n * M_PI_2);
    for (float value : {std::nextafter(nearest, 0.0f), nearest, std::nextafter(nearest, kInf)}) {
      x.push_back(value), x.push_back(-value);
    }
  }
  return x;
}

std::vector<float> interesting_inputs(std::mt19937& random) {
  std::vector<float> x = {0.0f,  -0.0f,  1,          -1,     0.5f,   -0.5f, 1.5f,   2.5f, -2.5f, kInf,    -kInf,
                          kNan,  1e-40f, -1e-40f,    1e-38f, 88.5f,  88.8f, -87.2f, -88,  -100,  -103.5f, -104.5f,
                          3e38f, -3e38f, 8388609.0f, 0.925f, 0.625f, 1e6f,  -1e6f,  4,    -4,    3.9f};
  std::uniform_real_distribution<float> narrow(-6, 6), wide(-110, 110), exponent(-120, 120);
  for (int i = 0; i < 4000; ++i) x.push_back(narrow(random));
  for (int i = 0; i < 2000; ++i) x.push_back(wide(random));
  for (int i = 0; i < 2000; ++i) x.push_back(std::exp2(exponent(random)));
  for (int i = 0; i < 2000; ++i) x.push_back(narrow(random) / 6);
  return x;
}

class VectorF32 : public IsaTest {};

TEST_P(VectorF32, UnaryFunctionsAreWithinAFewUlps) {
  const std::vector<float> x = interesting_inputs(random_);
  std::vector<float> y(x.size());
  for (int op = 0; op < static_cast<int>(UnaryOp::kCount); ++op) {
    const Activation activation = with_parameters(op);
    unary(activation, x.data(), y.data(), static_cast<int64_t>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      const double want = exact(activation, x[i]);
      const bool close = std::fabs(y[i] - want) <= error_of_definition(activation, x[i], GetParam());
      const bool vanished = y[i] == 0 && std::fabs(want) < vanishing(activation.op, x[i]);
      EXPECT_TRUE(close || vanished || ulps(y[i], want) <= limit(activation, x[i], GetParam()))
          << "op " << op << " x " << x[i] << " y " << y[i] << " exact " << want << " ulps " << ulps(y[i], want);
    }
  }
}

TEST_P(VectorF32, WhatVanishesIsNoDenormal) {
  for (int op = 0; op < static_cast<int>(UnaryOp::kCount); ++op) {
    if (vanishing(static_cast<UnaryOp>(op), 1) == 0) continue;
    int64_t zeros = 0, others = 0;
    for (float x = -450; x < -5; x += 0.005f) {
      float y;
      unary(with_parameters(op), &x, &y, 1);
      ASSERT_NE(std::fpclassify(y), FP_SUBNORMAL) << "op " << op << " of " << x;
      ++(y == 0 ? zeros : others);
    }
    EXPECT_GT(zeros, 0) << op;
    EXPECT_GT(others, 0) << op;
  }
}

TEST_P(VectorF32, AnglesNextToWholeQuartersKeepTheirPlaces) {
  const std::vector<float> x = whole_quarters();
  std::vector<float> y(x.size());
  for (UnaryOp op : {UnaryOp::kSin, UnaryOp::kCos, UnaryOp::kTan}) {
    unary({op}, x.data(), y.data(), static_cast<int64_t>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      const double want = exact({op}, x[i]);
      EXPECT_LE(ulps(y[i], want), limit({op}, x[i], GetParam()))
          << static_cast<int>(op) << " of " << x[i] << " is " << y[i];
    }
  }
}

/** Odd functions among them. */
TEST_P(VectorF32, ZerosHaveTheRightSign) {
  const float x[] = {0.0f, -0.0f};
  for (int op = 0; op < static_cast<int>(UnaryOp::kCount); ++op) {
    float y[2];
    unary(with_parameters(op), x, y, 2);
    for (int i = 0; i < 2; ++i) {
      const double want = exact(with_parameters(op), x[i]);
      EXPECT_TRUE(want != 0 || std::signbit(y[i]) == std::signbit(want)) << "op " << op << " of " << x[i];
    }
  }
}

/** So that spans may be cut anywhere. */
TEST_P(VectorF32, ElementsDependOnNothingBesideThem) {
  const std::vector<float> x = interesting_inputs(random_);
  std::vector<float> y(x.size());
  for (int op = 0; op < static_cast<int>(UnaryOp::kCount); ++op) {
    unary(with_parameters(op), x.data(), y.data(), static_cast<int64_t>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      float alone;
      unary(with_parameters(op), &x[i], &alone, 1);
      bool both_nan = std::isnan(alone) && std::isnan(y[i]);
      ASSERT_TRUE(both_nan || std::memcmp(&alone, &y[i], sizeof alone) == 0) << "op " << op << " x " << x[i];
    }
  }
}

TEST_P(VectorF32, UnaryTailsTouchNothingElse) {
  for (int64_t n = 0; n < 70; ++n) {
    const std::vector<float> x = normal(n + 1);
    std::vector<float> y(n + 1, 77);
    unary({UnaryOp::kNeg}, x.data() + 1, y.data(), n);
    for (int64_t i = 0; i < n; ++i) ASSERT_EQ(y[i], -x[i + 1]);
    EXPECT_EQ(y[n], 77);
  }
}

TEST_P(VectorF32, RoundingKeepsTheSignOfZero) {
  for (UnaryOp op : {UnaryOp::kFloor, UnaryOp::kCeil, UnaryOp::kRound}) {
    const float x[] = {-0.0f, -0.25f, 0.25f};
    float y[3];
    unary({op}, x, y, 3);
    EXPECT_TRUE(std::signbit(y[0]));
    EXPECT_TRUE(std::signbit(y[1]));
    EXPECT_FALSE(std::signbit(y[2]));
  }
}

double exact(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::kAdd:
      return a + b;
    case BinaryOp::kSub:
      return a - b;
    case BinaryOp::kMul:
      return a * b;
    case BinaryOp::kDiv:
      return a / b;
    case BinaryOp::kMin:
      return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b);
    case BinaryOp::kMax:
      return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b);
    case BinaryOp::kPRelu:
      return a < 0 ? a * b : a;
    case BinaryOp::kPow:
      return std::pow(a, b);
    case BinaryOp::kCount:
      break;
  }
  return NAN;
}

TEST_P(VectorF32, BinaryFunctionsInAllThreeForms) {
  for (int op = 0; op < static_cast<int>(BinaryOp::kCount); ++op) {
    const auto binary_op = static_cast<BinaryOp>(op);
    for (int64_t n : {0, 1, 15, 16, 17, 33, 100}) {
      std::vector<float> a = normal(n), b = normal(n), y(n + 1, 77);
      if (n > 10) a[3] = kNan, b[5] = kNan, a[7] = kInf, b[9] = -kInf, b[2] = 0;
      binary(binary_op, a.data(), b.data(), y.data(), n);
      for (int64_t i = 0; i < n; ++i) ASSERT_LE(ulps(y[i], exact(binary_op, a[i], b[i])), 1) << op << " at " << i;
      binary(binary_op, a.data(), 0.75f, y.data(), n);
      for (int64_t i = 0; i < n; ++i) ASSERT_LE(ulps(y[i], exact(binary_op, a[i], 0.75)), 1) << op << " at " << i;
      binary(binary_op, 0.75f, b.data(), y.data(), n);
      for (int64_t i = 0; i < n; ++i) ASSERT_LE(ulps(y[i], exact(binary_op, 0.75, b[i])), 1) << op << " at " << i;
      EXPECT_EQ(y[n], 77);
    }
  }
}

TEST_P(VectorF32, FusedForms) {
  for (int64_t n : {0, 1, 16, 37}) {
    const std::vector<float> a = normal(n), b = normal(n), c = normal(n);
    std::vector<float> y(n), z = c;
    multiply_add(a.data(), b.data(), c.data(), y.data(), n);
    accumulate_scaled(a.data(), 3, z.data(), n);
    for (int64_t i = 0; i < n; ++i) {
      EXPECT_NEAR(y[i], double{a[i]} * b[i] + c[i], 1e-6);
      EXPECT_NEAR(z[i], 3.0 * a[i] + c[i], 1e-6);
    }
    scale_shift(a.data(), 2, -1, y.data(), n);
    for (int64_t i = 0; i < n; ++i) EXPECT_NEAR(y[i], 2.0 * a[i] - 1, 1e-6);
  }
}

TEST_P(VectorF32, Rotation) {
  for (int64_t n : {0, 1, 16, 37}) {
    const std::vector<float> x = normal(2 * n), c = normal(n), s = normal(n);
    std::vector<float> halves(2 * n), pairs = x;
    rotate_halves(x.data(), c.data(), s.data(), n, halves.data());
    rotate_pairs(pairs.data(), c.data(), s.data(), n, pairs.data());
    for (int64_t i = 0; i < n; ++i) {
      EXPECT_NEAR(halves[i], double{x[i]} * c[i] - double{x[n + i]} * s[i], 1e-5);
      EXPECT_NEAR(halves[n + i], double{x[n + i]} * c[i] + double{x[i]} * s[i], 1e-5);
      EXPECT_NEAR(pairs[2 * i], double{x[2 * i]} * c[i] - double{x[2 * i + 1]} * s[i], 1e-5);
      EXPECT_NEAR(pairs[2 * i + 1], double{x[2 * i + 1]} * c[i] + double{x[2 * i]} * s[i], 1e-5);
    }
  }
}

ORTOLAN_FOR_EACH_ISA(VectorF32);

}  // namespace
}  // namespace ortolan::cpu::kernels
