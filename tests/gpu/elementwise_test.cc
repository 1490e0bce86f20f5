// Elementwise operators in float against double.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "gpu/single_node.h"

namespace ortolan::gpu::test {
namespace {

using Unary = double (*)(double);
using Binary = double (*)(double, double);

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }
double clamped(double x) { return std::min(std::max(x, 0.0), 1.0); }
double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }
double tanh_gelu(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }

struct UnaryCase {
  TestNode node;
  Unary function;
  float low = -9, high = 9;
};

const UnaryCase kUnary[] = {
    {{"Abs"}, [](double x) { return std::fabs(x); }},
    {{"Acos"}, [](double x) { return std::acos(x); }, -1, 1},
    {{"Acosh"}, [](double x) { return std::acosh(x); }, 1, 50},
    {{"Asin"}, [](double x) { return std::asin(x); }, -1, 1},
    {{"Asinh"}, [](double x) { return std::asinh(x); }, -20, 20},
    {{"Atan"}, [](double x) { return std::atan(x); }},
    {{"Atanh"}, [](double x) { return std::atanh(x); }, -0.99f, 0.99f},
    {{"Ceil"}, [](double x) { return std::ceil(x); }},
    {{"Celu", {{"alpha", 0.7f}}}, [](double x) { return x > 0 ? x : 0.7f * std::expm1(x / 0.7f); }},
    {{"Clip", {{"min", -1.5f}, {"max", 2.5f}}, 6}, [](double x) { return std::min(std::max(x, -1.5), 2.5); }},
    {{"Cos"}, [](double x) { return std::cos(x); }, -200, 200},
    {{"Cosh"}, [](double x) { return std::cosh(x); }},
    {{"Elu", {{"alpha", 2.0f}}}, [](double x) { return x > 0 ? x : 2 * std::expm1(x); }},
    {{"Erf"}, [](double x) { return std::erf(x); }, -4, 4},
    {{"Exp"}, [](double x) { return std::exp(x); }, -80, 80},
    {{"Floor"}, [](double x) { return std::floor(x); }},
    {{"Gelu"}, gelu},
    {{"Gelu", {{"approximate", std::string("tanh")}}}, tanh_gelu},
    {{"Gelu", {}, 1, "com.microsoft"}, gelu},
    {{"FastGelu", {}, 1, "com.microsoft"}, tanh_gelu},
    {{"QuickGelu", {}, 1, "com.microsoft"}, [](double x) { return x * sigmoid(1.702f * x); }},
    {{"HardSigmoid"}, [](double x) { return clamped(0.2f * x + 0.5); }},
    {{"HardSigmoid", {{"alpha", 0.1f}, {"beta", 0.4f}}}, [](double x) { return clamped(0.1f * x + 0.4f); }},
    {{"HardSwish"}, [](double x) { return x * clamped(x / 6 + 0.5); }},
    {{"LeakyRelu"}, [](double x) { return x < 0 ? 0.01f * x : x; }},
    {{"LeakyRelu", {{"alpha", 0.3f}}, 6}, [](double x) { return x < 0 ? 0.3f * x : x; }},
    {{"Log"}, [](double x) { return std::log(x); }, 1e-3f, 3},
    {{"Log"}, [](double x) { return std::log(x); }, 1, 1e30f},
    {{"Mish"}, [](double x) { return x * std::tanh(softplus(x)); }},
    {{"Neg"}, [](double x) { return -x; }},
    {{"Reciprocal"}, [](double x) { return 1 / x; }, 0.1f, 9},
    {{"Relu"}, [](double x) { return std::max(x, 0.0); }},
    {{"Relu", {}, 1}, [](double x) { return std::max(x, 0.0); }},
    {{"Round"}, [](double x) { return std::nearbyint(x); }},
    {{"Selu"}, [](double x) { return 1.05070102f * (x > 0 ? x : 1.67326319f * std::expm1(x)); }},
    {{"Shrink", {{"bias", 1.5f}, {"lambd", 1.5f}}},
     [](double x) { return x < -1.5  ? x + 1.5
                           : x > 1.5 ? x - 1.5
                                     : 0.0; }},
    {{"Sigmoid"}, sigmoid, -30, 30},
    {{"Sign"}, [](double x) { return x > 0   ? 1.0
                                     : x < 0 ? -1.0
                                             : 0.0; }},
    {{"Sin"}, [](double x) { return std::sin(x); }, -200, 200},
    {{"Sin"}, [](double x) { return std::sin(x); }, -3e5f, 3e5f},
    {{"Sin"}, [](double x) { return std::sin(x); }, -2e7f, 2e7f},
    {{"Cos"}, [](double x) { return std::cos(x); }, -1e30f, 1e30f},
    {{"Sinh"}, [](double x) { return std::sinh(x); }},
    {{"Softplus"}, softplus, -30, 30},
    {{"Softsign"}, [](double x) { return x / (1 + std::fabs(x)); }},
    {{"Sqrt"}, [](double x) { return std::sqrt(x); }, 0, 100},
    {{"Swish", {{"alpha", 0.5f}}}, [](double x) { return x * sigmoid(0.5 * x); }},
    {{"Tan"}, [](double x) { return std::tan(x); }, -1.5f, 1.5f},
    {{"Tanh"}, [](double x) { return std::tanh(x); }, -12, 12},
    {{"ThresholdedRelu", {{"alpha", 2.0f}}}, [](double x) { return x > 2 ? x : 0; }},
};

struct BinaryCase {
  TestNode node;
  Binary function;
  float low = -3, high = 3;
};

const BinaryCase kBinary[] = {
    {{"Add"}, [](double a, double b) { return a + b; }},
    {{"Sub", {}, 7}, [](double a, double b) { return a - b; }},
    {{"Mul"}, [](double a, double b) { return a * b; }},
    {{"Div"}, [](double a, double b) { return a / b; }, 0.5f, 4},
    {{"Pow"}, [](double a, double b) { return std::pow(a, b); }, 0.01f, 9},
    {{"Max"}, [](double a, double b) { return std::max(a, b); }},
    {{"Min"}, [](double a, double b) { return std::min(a, b); }},
    {{"Sum"}, [](double a, double b) { return a + b; }},
    {{"Mean"}, [](double a, double b) { return (a + b) / 2; }},
    {{"PRelu"}, [](double a, double b) { return a < 0 ? a * b : a; }},
    {{"Mod", {{"fmod", int64_t{1}}}}, [](double a, double b) { return std::fmod(a, b); }, -50, 50},
    {{"BiasGelu", {}, 1, "com.microsoft"}, [](double a, double b) { return gelu(a + b); }},
    {{"FastGelu", {}, 1, "com.microsoft"}, [](double a, double b) { return tanh_gelu(a + b); }},
};

Tensor apply(Unary function, const Tensor& x) {
  std::vector<float> values = x.floats();
  for (float& value : values) value = static_cast<float>(function(value));
  return floats(x.shape, values);
}

/** Element i of a broadcast shape, in a tensor of a shape that broadcasts to it. */
size_t place_in(const Shape& own, const Shape& shape, size_t i) {
  size_t place = 0, size = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    size_t at = i % static_cast<size_t>(shape[axis]), missing = shape.size() - own.size();
    i /= static_cast<size_t>(shape[axis]);
    if (axis < missing || own[axis - missing] == 1) continue;
    place += at * size;
    size *= static_cast<size_t>(own[axis - missing]);
  }
  return place;
}

Tensor apply(Binary function, const Tensor& a, const Tensor& b, const Shape& shape) {
  std::vector<float> left = a.floats(), right = b.floats(), values(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < values.size(); i++) {
    values[i] = static_cast<float>(function(left[place_in(a.shape, shape, i)], right[place_in(b.shape, shape, i)]));
  }
  return floats(shape, values);
}

/** The same numbers in float16, and as floats after rounding to it. */
Tensor in_half(const Tensor& x) { return floats(x.shape, x.floats(), ElementType::kFloat16); }
Tensor in_float(const Tensor& x) { return floats(x.shape, x.floats()); }

class Elementwise : public testing::TestWithParam<NamedDevice> {
 protected:
  Device& device() { return *GetParam().device; }
  /** Drivers compile a program for each case, so that they run few of those that differ in types alone. */
  template <class Case, size_t kCount>
  std::span<const Case> cases_in_half(const Case (&cases)[kCount]) {
    return std::span(cases).first(GetParam().name == "opencl" ? 3 : kCount);
  }
  Tensor run(const TestNode& node, const std::vector<NodeInput>& inputs) { return run_node(device(), node, inputs)[0]; }
};

TEST_P(Elementwise, UnaryOperators) {
  for (const UnaryCase& c : kUnary) {
    SCOPED_TRACE(c.node.op);
    Tensor x = random_floats({3, 101}, 1, c.low, c.high);
    expect_near(run(c.node, {{x}}), apply(c.function, x));
  }
}

TEST_P(Elementwise, UnaryOperatorsInFloat16) {
  for (const UnaryCase& c : cases_in_half(kUnary)) {
    SCOPED_TRACE(c.node.op);
    Tensor x = in_half(random_floats({65}, 1, std::max(c.low, -100.0f), std::min(c.high, 100.0f)));
    Tensor wanted = in_half(apply(c.function, in_float(x)));
    expect_near(run(c.node, {{x}}), wanted, 1e-3f, 1e-6f);
  }
}

TEST_P(Elementwise, BinaryOperators) {
  for (const BinaryCase& c : kBinary) {
    SCOPED_TRACE(c.node.op);
    Tensor a = random_floats({7, 33}, 1, c.low, c.high), b = random_floats({33}, 2, c.low, c.high);
    expect_near(run(c.node, {{a}, constant(b)}), apply(c.function, a, b, {7, 33}));
  }
}

TEST_P(Elementwise, BinaryOperatorsInFloat16) {
  for (const BinaryCase& c : cases_in_half(kBinary)) {
    SCOPED_TRACE(c.node.op);
    Tensor a = random_floats({7, 33}, 1, c.low, c.high), b = random_floats({33}, 2, c.low, c.high);
    Tensor half_a = in_half(a), half_b = in_half(b);
    Tensor wanted = in_half(apply(c.function, in_float(half_a), in_float(half_b), {7, 33}));
    expect_near(run(c.node, {{half_a}, {half_b}}), wanted, 1e-3f, 1e-6f);
  }
}

TEST_P(Elementwise, Broadcasts) {
  const std::pair<Shape, Shape> kShapes[] = {
      {{1}, {1}},
      {{}, {}},
      {{}, {5}},
      {{1023}, {1023}},
      {{1025}, {1}},
      {{4099}, {4099}},
      {{2, 1030}, {1030}},
      {{2, 1030}, {2, 1}},
      {{300, 3}, {3}},
      {{300, 1}, {1, 3}},
      {{2, 5, 70}, {5, 1}},
      {{4, 1, 6}, {3, 1}},
      {{2, 1, 3, 1, 5}, {4, 1, 2, 1}},
      {{2, 1, 3, 1, 2, 1}, {1, 2, 1, 3, 1, 2}},
      {{1, 2, 3, 2, 3, 2, 2}, {1, 2, 3, 2, 3, 2, 2}},
      {{0, 4}, {4}},
      {{3, 0}, {1}},
  };
  for (const auto& [left, right] : kShapes) {
    Tensor a = random_floats(left, 1), b = random_floats(right, 2);
    Shape shape = std::max(left.size(), right.size()) == left.size() ? left : right;
    const Shape& other = shape == left ? right : left;
    for (size_t i = 0; i < other.size(); i++) {
      int64_t& size = shape[shape.size() - other.size() + i];
      if (size == 1) size = other[i];
    }
    SCOPED_TRACE(testing::PrintToString(left) + testing::PrintToString(right));
    Binary minus = [](double x, double y) { return x - y; };
    expect_near(run({"Sub"}, {{a}, {b}}), apply(minus, a, b, shape));
    expect_near(run({"Sub"}, {{b}, {a}}), apply(minus, b, a, shape));
  }
}

TEST_P(Elementwise, ManyInputs) {
  std::vector<NodeInput> inputs;
  std::vector<float> sum(24), most(24, -INFINITY);
  for (unsigned i = 0; i < 9; i++) {
    Tensor x = random_floats(i % 3 == 0 ? Shape{1, 6} : Shape{4, 6}, i);
    for (size_t j = 0; j < 24; j++) {
      float value = x.floats()[i % 3 == 0 ? j % 6 : j];
      sum[j] += value;
      most[j] = std::max(most[j], value);
    }
    inputs.push_back({x});
  }
  expect_near(run({"Sum"}, inputs), floats({4, 6}, sum), 1e-5f, 1e-5f);
  expect_near(run({"Max"}, inputs), floats({4, 6}, most));
  for (float& value : sum) value /= 9;
  expect_near(run({"Mean"}, inputs), floats({4, 6}, sum));
  expect_near(run({"Max"}, {inputs[0]}), inputs[0].tensor);
  expect_near(run({"Mean"}, {inputs[0]}), inputs[0].tensor);
}

TEST_P(Elementwise, Comparisons) {
  Tensor a = floats({6}, {1, 2, 3, NAN, INFINITY, -0.0f}), b = floats({6}, {2, 2, 2, 2, INFINITY, 0});
  auto truths = [&](const TestNode& node) { return run(node, {{a}, {b}}).integers(); };
  EXPECT_EQ(truths({"Equal"}), (std::vector<int64_t>{0, 1, 0, 0, 1, 1}));
  EXPECT_EQ(truths({"Less"}), (std::vector<int64_t>{1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(truths({"LessOrEqual"}), (std::vector<int64_t>{1, 1, 0, 0, 1, 1}));
  EXPECT_EQ(truths({"Greater"}), (std::vector<int64_t>{0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(truths({"GreaterOrEqual"}), (std::vector<int64_t>{0, 1, 1, 0, 1, 1}));
  EXPECT_EQ(run({"Less"}, {{a}, {b}}).type, ElementType::kBool);
}

TEST_P(Elementwise, Truths) {
  Tensor a = integers({4}, {0, 0, 1, 1}, ElementType::kBool), b = integers({4}, {0, 1, 0, 1}, ElementType::kBool);
  EXPECT_EQ(run({"And"}, {{a}, {b}}).integers(), (std::vector<int64_t>{0, 0, 0, 1}));
  EXPECT_EQ(run({"Or"}, {{a}, {b}}).integers(), (std::vector<int64_t>{0, 1, 1, 1}));
  EXPECT_EQ(run({"Xor"}, {{a}, {b}}).integers(), (std::vector<int64_t>{0, 1, 1, 0}));
  EXPECT_EQ(run({"Not"}, {{a}}).integers(), (std::vector<int64_t>{1, 1, 0, 0}));
}

TEST_P(Elementwise, LimitsAtInfinity) {
  Tensor x = floats({5}, {NAN, INFINITY, -INFINITY, -1e4f, -1e19f});
  for (const TestNode& node : std::initializer_list<TestNode>{{"Gelu"},
                                                              {"Gelu", {{"approximate", std::string("tanh")}}},
                                                              {"QuickGelu", {}, 1, "com.microsoft"},
                                                              {"HardSwish"},
                                                              {"Mish"},
                                                              {"Swish"}}) {
    SCOPED_TRACE(node.op);
    expect_near(run(node, {{x}}), floats({5}, {NAN, INFINITY, 0, 0, 0}));
  }
  expect_near(run({"Softsign"}, {{x}}), floats({5}, {NAN, 1, -1, -0.9999f, -1}));
  expect_near(run({"Pow"}, {{floats({3}, {-INFINITY, -0.0f, NAN})}, constant(floats({}, {0.5f}))}),
              floats({3}, {INFINITY, 0, NAN}));
}

TEST_P(Elementwise, NanAndInfinity) {
  Tensor x = floats({5}, {NAN, INFINITY, -INFINITY, 0, -0.0f});
  const UnaryCase* end = std::end(kUnary);
  for (const UnaryCase* c = kUnary; c != end; ++c) {
    if (c->node.op.find("Gelu") != std::string::npos || c->node.op == "Mish") continue;  // LimitsAtInfinity
    if (c->node.op == "Swish" || c->node.op == "Softsign" || c->node.op == "HardSwish") continue;
    SCOPED_TRACE(c->node.op);
    std::vector<float> values = run(c->node, {{x}}).floats();
    EXPECT_TRUE(std::isnan(values[0]) || c->node.op == "Sign" || (c->node.op == "Shrink" && values[0] == 0));
    for (size_t i = 1; i < 5; i++) {
      float wanted = static_cast<float>(c->function(x.floats()[i]));
      EXPECT_TRUE(std::isnan(wanted) ? std::isnan(values[i])
                                     : values[i] == wanted || std::fabs(values[i] - wanted) < 1e-6f)
          << "of " << x.floats()[i] << " is " << values[i] << ", not " << wanted;
    }
  }
  EXPECT_EQ(run({"IsNaN"}, {{x}}).integers(), (std::vector<int64_t>{1, 0, 0, 0, 0}));
  EXPECT_EQ(run({"IsInf"}, {{x}}).integers(), (std::vector<int64_t>{0, 1, 1, 0, 0}));
  EXPECT_EQ(run({"IsInf", {{"detect_negative", int64_t{0}}}}, {{x}}).integers(), (std::vector<int64_t>{0, 1, 0, 0, 0}));
  Tensor one = floats({}, {1});
  EXPECT_TRUE(std::isnan(run({"Max"}, {{x}, {one}}).floats()[0]));
  EXPECT_TRUE(std::isnan(run({"Min"}, {{one}, {x}}).floats()[0]));
}

TEST_P(Elementwise, PowersOfExtremes) {
  const float kValues[] = {0,  -0.0f, 1,      -1,       2,         -2,  0.5f, -0.5f,     3,
                           -3, 1e20f, 1e-20f, INFINITY, -INFINITY, NAN, 2.5f, 1.0000001f};
  std::vector<float> a, b, wanted;
  for (float x : kValues) {
    for (float y : kValues) {
      a.push_back(x);
      b.push_back(y);
      wanted.push_back(static_cast<float>(std::pow(static_cast<double>(x), static_cast<double>(y))));
    }
  }
  auto count = static_cast<int64_t>(a.size());
  expect_near(run({"Pow"}, {{floats({count}, a)}, {floats({count}, b)}}), floats({count}, wanted));
}

TEST_P(Elementwise, PowersKnownBeforeTheRun) {
  Tensor x = random_floats({40}, 3);
  for (float exponent : {0.0f, 1.0f, 2.0f, 3.0f, -1.0f}) {
    std::vector<float> wanted = x.floats();
    for (float& value : wanted) value = static_cast<float>(std::pow(static_cast<double>(value), exponent));
    expect_near(run({"Pow"}, {{x}, constant(floats({}, {exponent}))}), floats({40}, wanted));
  }
  Tensor positive = random_floats({40}, 3, 0, 9);
  std::vector<float> roots = positive.floats();
  for (float& value : roots) value = std::sqrt(value);
  expect_near(run({"Pow"}, {{positive}, constant(floats({1}, {0.5f}))}), floats({40}, roots));
  Tensor whole = integers({2}, {3, -2}, ElementType::kInt32);
  expect_near(run({"Pow"}, {{floats({2}, {2, 4})}, {whole}}), floats({2}, {8, 0.0625f}));
}

TEST_P(Elementwise, ClipByInputs) {
  Tensor x = floats({5}, {-3, -1, 0, 2, NAN}), low = floats({}, {-2}), high = floats({1}, {1});
  expect_near(run({"Clip"}, {{x}, constant(low), constant(high)}), floats({5}, {-2, -1, 0, 1, NAN}));
  expect_near(run({"Clip"}, {{x}, {low}, {high}}), floats({5}, {-2, -1, 0, 1, NAN}));
  expect_near(run({"Clip"}, {{x}, missing(), {high}}), floats({5}, {-3, -1, 0, 1, NAN}));
  expect_near(run({"Clip"}, {{x}, constant(low)}), floats({5}, {-2, -1, 0, 2, NAN}));
  expect_near(run({"Clip"}, {{x}, {high}, constant(low)}), floats({5}, {-2, -2, -2, -2, NAN}));
  expect_near(run({"Clip"}, {{x}, constant(high), constant(low)}), floats({5}, {-2, -2, -2, -2, NAN}));
}

TEST_P(Elementwise, WhatIsRefused) {
  Tensor x = floats({1, 2}, {1, 2}), whole = integers({2}, {1, 2});
  EXPECT_EQ(refusal_of(device(), {"Exp"}, {{whole}}), "input 0 is int64; supported: float, float16");
  EXPECT_EQ(refusal_of(device(), {"Add", {{"broadcast", int64_t{1}}}, 6}, {{x}, {x}}),
            "opset 6 broadcasts by attributes; convert the model to opset 7 or later");
  Tensor deep = floats({1, 1, 1, 1, 1, 1, 2}, {1, 2});
  EXPECT_EQ(refusal_of(device(), {"Mul"}, {{deep}, {x}}), "input 0 has 7 axes; broadcasts of 6 are supported");
}

TEST_P(Elementwise, ShapesThatDoNotFit) {
  try {
    run({"Add"}, {{random_floats({2, 3}, 1)}, {random_floats({2}, 1)}});
    FAIL() << "it ran";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "node 'n' (Add): the shape [2] does not broadcast to [2, 3]");
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Elementwise, testing::ValuesIn(all_devices()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ortolan::gpu::test
