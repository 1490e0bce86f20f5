// Operators of one input, each against its definition in double; Clip, IsInf and IsNaN.
#include <cmath>

#include "op_test.h"

namespace ortolan::test {
namespace {

using Reference = double (*)(double);

struct UnaryCase {
  const char* op;
  int opset;
  double low, high;
  Reference reference;
};

double softplus(double x) { return std::log1p(std::exp(x)); }
double elu(double x, double alpha) { return x < 0 ? alpha * std::expm1(x) : x; }
double limited(double x) { return std::fmin(1, std::fmax(0, x)); }

const UnaryCase kCases[] = {
    {"Abs", 13, -5, 5, [](double x) { return std::fabs(x); }},
    {"Acos", 7, -1, 1, [](double x) { return std::acos(x); }},
    {"Acosh", 9, 1, 9, [](double x) { return std::acosh(x); }},
    {"Asin", 7, -1, 1, [](double x) { return std::asin(x); }},
    {"Asinh", 9, -5, 5, [](double x) { return std::asinh(x); }},
    {"Atan", 7, -5, 5, [](double x) { return std::atan(x); }},
    {"Atanh", 9, -0.9, 0.9, [](double x) { return std::atanh(x); }},
    {"Ceil", 13, -5, 5, [](double x) { return std::ceil(x); }},
    {"Celu", 12, -5, 5, [](double x) { return std::fmax(x, 0) + std::fmin(0, std::expm1(x)); }},
    {"Cos", 7, -9, 9, [](double x) { return std::cos(x); }},
    {"Cosh", 9, -4, 4, [](double x) { return std::cosh(x); }},
    {"Elu", 6, -5, 5, [](double x) { return elu(x, 1); }},
    {"Erf", 13, -3, 3, [](double x) { return std::erf(x); }},
    {"Exp", 13, -9, 9, [](double x) { return std::exp(x); }},
    {"Floor", 13, -5, 5, [](double x) { return std::floor(x); }},
    {"Gelu", 20, -5, 5, [](double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }},
    {"HardSigmoid", 6, -5, 5, [](double x) { return limited(0.2f * x + 0.5); }},
    {"HardSwish", 14, -5, 5, [](double x) { return x * limited(x / 6 + 0.5); }},
    {"LeakyRelu", 16, -5, 5, [](double x) { return x < 0 ? 0.01f * x : x; }},
    {"Log", 13, 0.01, 9, [](double x) { return std::log(x); }},
    {"Mish", 18, -5, 5, [](double x) { return x * std::tanh(softplus(x)); }},
    {"Neg", 13, -5, 5, [](double x) { return -x; }},
    {"Reciprocal", 13, 0.1, 5, [](double x) { return 1 / x; }},
    {"Relu", 14, -5, 5, [](double x) { return x < 0 ? 0 : x; }},
    {"Round", 11, -5, 5, [](double x) { return std::nearbyint(x); }},
    {"Selu", 6, -5, 5, [](double x) { return 1.0507010221481323 * elu(x, 1.6732631921768188); }},
    {"Shrink", 9, -5, 5, [](double x) { return std::fabs(x) > 0.5 ? x : 0; }},
    {"Sigmoid", 13, -9, 9, [](double x) { return 1 / (1 + std::exp(-x)); }},
    {"Sign", 13, -5, 5, [](double x) { return x > 0   ? 1.0
                                              : x < 0 ? -1.0
                                                      : 0; }},
    {"Sin", 7, -9, 9, [](double x) { return std::sin(x); }},
    {"Sinh", 9, -4, 4, [](double x) { return std::sinh(x); }},
    {"Softplus", 1, -9, 9, softplus},
    {"Softsign", 1, -5, 5, [](double x) { return x / (1 + std::fabs(x)); }},
    {"Sqrt", 13, 0, 9, [](double x) { return std::sqrt(x); }},
    {"Swish", 24, -5, 5, [](double x) { return x / (1 + std::exp(-x)); }},
    {"Tan", 7, -1, 1, [](double x) { return std::tan(x); }},
    {"Tanh", 13, -5, 5, [](double x) { return std::tanh(x); }},
    {"ThresholdedRelu", 10, -5, 5, [](double x) { return x > 1 ? x : 0; }},
};

std::vector<double> expected(const UnaryCase& item, const Tensor& x) {
  std::vector<double> values = doubles(x);
  for (double& value : values) value = item.reference(value);
  return values;
}

template <class T>
void check(const UnaryCase& item, Shape shape, double tolerance) {
  SCOPED_TRACE(join(item.op, " on ", name_of(kTypeOf<T>), shape));
  Tensor x = random_tensor<T>(shape, test_seed(), item.low, item.high);
  Tensor y = OpTest(item.op, item.opset).input(x).run_tensor();
  EXPECT_EQ(y.type(), x.type());
  EXPECT_TRUE(near(y, shape, expected(item, x), tolerance));
}

TEST(ElementwiseUnary, FollowsItsDefinition) {
  for (const UnaryCase& item : kCases) {
    check<float>(item, {3, 5, 67}, 2e-6);
    check<float>(item, {}, 2e-6);
    check<float>(item, {2, 0, 3}, 0);
    check<double>(item, {131}, 1e-13);
  }
}

TEST(ElementwiseUnary, RoundsSmallFloatsOnce) {
  for (const UnaryCase& item : kCases) {
    check<Half>(item, {7, 101}, 6e-4);
    check<BFloat16>(item, {7, 101}, 5e-3);
  }
}

TEST(ElementwiseUnary, RunsOnSeveralThreads) {
  for (const UnaryCase& item : kCases) check<float>(item, {100003}, 2e-6);
}

TEST(ElementwiseUnary, Integers) {
  std::vector<int8_t> x{-128, -3, 0, 3, 127};
  EXPECT_TRUE(equal<int8_t>(OpTest("Abs").input<int8_t>({5}, x).run_tensor(), {5}, {-128, 3, 0, 3, 127}));
  EXPECT_TRUE(equal<int8_t>(OpTest("Neg").input<int8_t>({5}, x).run_tensor(), {5}, {-128, 3, 0, -3, -127}));
  EXPECT_TRUE(equal<int8_t>(OpTest("Relu").input<int8_t>({5}, x).run_tensor(), {5}, {0, 0, 0, 3, 127}));
  EXPECT_TRUE(equal<int8_t>(OpTest("Sign").input<int8_t>({5}, x).run_tensor(), {5}, {-1, -1, 0, 1, 1}));
  EXPECT_TRUE(equal<int8_t>(OpTest("BitwiseNot", 18).input<int8_t>({5}, x).run_tensor(), {5}, {127, 2, -1, -4, -128}));
  EXPECT_TRUE(equal<uint16_t>(OpTest("Abs").input<uint16_t>({1}, {65535}).run_tensor(), {1}, {65535}));
  EXPECT_TRUE(equal<bool>(OpTest("Not").input<bool>({2}, {true, false}).run_tensor(), {2}, {false, true}));
}

TEST(ElementwiseUnary, ReadsAttributes) {
  std::vector<float> x{-2, 0.5f, 2};
  auto run = [&](OpTest test) { return test.input<float>({3}, x).run_tensor(); };
  EXPECT_TRUE(near(run(OpTest("LeakyRelu").set("alpha", 0.5f)), {3}, {-1, 0.5, 2}));
  EXPECT_TRUE(near(run(OpTest("HardSigmoid").set("alpha", 1.0f).set("beta", 0.0f)), {3}, {0, 0.5, 1}));
  EXPECT_TRUE(near(run(OpTest("Shrink").set("lambd", 1.0f).set("bias", 0.25f)), {3}, {-1.75, 0, 1.75}));
  EXPECT_TRUE(near(run(OpTest("Selu", 1)), {3}, {1.0507 * 1.6732 * std::expm1(-2.0), 0.5 * 1.0507, 2 * 1.0507}));
  double t = 0.7978845608028654 * (2 + 0.044715 * 8);
  EXPECT_NEAR(doubles(run(OpTest("Gelu", 20).set("approximate", "tanh")))[2], 1 + std::tanh(t), 1e-5);
}

// By ONNX's definitions Shrink gives 0 for what is neither below nor above its limits; the other one keeps it.
TEST(ElementwiseUnary, NoNumbersAreTheSameInEveryType) {
  for (auto [name, of_nan] : {std::pair{"Shrink", 0.0}, std::pair{"ThresholdedRelu", double{NAN}}}) {
    SCOPED_TRACE(name);
    EXPECT_TRUE(near(OpTest(name).input<float>({3}, {NAN, -NAN, 2}).run_tensor(), {3}, {of_nan, of_nan, 2}));
    EXPECT_TRUE(near(OpTest(name).input<double>({3}, {NAN, -NAN, 2}).run_tensor(), {3}, {of_nan, of_nan, 2}));
    EXPECT_TRUE(near(OpTest(name).input<Half>({2}, {Half(NAN), Half(2)}).run_tensor(), {2}, {of_nan, 2}));
  }
}

TEST(ElementwiseUnary, SaysWhatIsWrong) {
  std::string text = OpTest("Gelu", 20).set("approximate", "sine").input<float>({1}, {1}).error();
  EXPECT_NE(text.find("attribute approximate is 'sine'; set it to 'none' or 'tanh'"), std::string::npos) << text;
  EXPECT_NE(OpTest("Sqrt").input<int32_t>({1}, {1}).error().find(
                "input 0 'x0' is int32, but 'Sqrt' of opset 17 takes float,"),
            std::string::npos);
}

TEST(Clip, TakesLimitsFromInputsOrAttributes) {
  std::vector<float> x{-3, -1, 0, 2, NAN};
  auto clip = [&] { return std::move(OpTest("Clip", 13).input<float>({5}, x)); };
  EXPECT_TRUE(near(clip().input<float>({}, {-1.5}).input<float>({}, {1}).run_tensor(), {5}, {-1.5, -1, 0, 1, NAN}));
  EXPECT_TRUE(near(clip().no_input().input<float>({}, {-1}).run_tensor(), {5}, {-3, -1, -1, -1, NAN}));
  EXPECT_TRUE(near(clip().run_tensor(), {5}, {-3, -1, 0, 2, NAN}));
  EXPECT_TRUE(near(OpTest("Clip", 6).set("min", 0.0f).input<float>({5}, x).run_tensor(), {5}, {0, 0, 0, 2, NAN}));
  Tensor ints = OpTest("Clip", 12).input<int8_t>({3}, {-9, 1, 9}).input<int8_t>({}, {-2}).run_tensor();
  EXPECT_TRUE(equal<int8_t>(ints, {3}, {-2, 1, 9}));
  Tensor crossed =
      OpTest("Clip", 12).input<int64_t>({2}, {0, 9}).input<int64_t>({}, {5}).input<int64_t>({}, {3}).run_tensor();
  EXPECT_TRUE(equal<int64_t>(crossed, {2}, {3, 3}));
  std::string text = clip().input<float>({2}, {1, 2}).error();
  EXPECT_NE(text.find("min is a tensor of float[2]; give a scalar of float"), std::string::npos) << text;
}

TEST(FloatClassification, FindsInfinitiesAndNans) {
  std::vector<float> x{1, INFINITY, -INFINITY, NAN, -0.0f};
  auto run = [&](OpTest test) { return test.input<float>({5}, x).run_tensor(); };
  EXPECT_TRUE(equal<bool>(run(OpTest("IsNaN")), {5}, {false, false, false, true, false}));
  EXPECT_TRUE(equal<bool>(run(OpTest("IsInf")), {5}, {false, true, true, false, false}));
  EXPECT_TRUE(equal<bool>(run(OpTest("IsInf").set("detect_negative", 0)), {5}, {false, true, false, false, false}));
  EXPECT_TRUE(equal<bool>(run(OpTest("IsInf").set("detect_positive", 0)), {5}, {false, false, true, false, false}));
  Tensor half = OpTest("IsInf", 20).input<Half>({2}, {Half(INFINITY), Half(65504)}).run_tensor();
  EXPECT_TRUE(equal<bool>(half, {2}, {true, false}));
  std::vector<Float8E5M2> codes(3);
  codes[0].bits = 0x7c, codes[1].bits = 0x7d, codes[2].bits = 0x01;
  EXPECT_TRUE(equal<bool>(OpTest("IsInf", 20).input<Float8E5M2>({3}, codes).run_tensor(), {3}, {true, false, false}));
  EXPECT_TRUE(equal<bool>(OpTest("IsNaN", 20).input<Float8E5M2>({3}, codes).run_tensor(), {3}, {false, true, false}));
}

}  // namespace
}  // namespace ortolan::test
