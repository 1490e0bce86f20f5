// Operators of two inputs and more: arithmetic, comparison, logic, Pow and Where, with every kind of broadcasting.
#include <cmath>

#include "op_test.h"

namespace ortolan::test {
namespace {

/** y = f(a, b) by numpy's rule, element by element. */
template <class F>
std::vector<double> broadcast_reference(const Tensor& a, const Tensor& b, const Shape& out, F&& f) {
  auto x = doubles(a), z = doubles(b);
  auto at = [&](const Shape& shape, int64_t flat) {
    int64_t index = 0, pitch = 1;
    for (size_t back = 1; back <= out.rank(); ++back) {
      int64_t size = out[out.rank() - back], i = flat % size;
      flat /= size;
      if (back > shape.rank()) continue;
      if (shape[shape.rank() - back] != 1) index += i * pitch;
      pitch *= shape[shape.rank() - back];
    }
    return static_cast<size_t>(index);
  };
  std::vector<double> y;
  for (int64_t i = 0; i < out.element_count(); ++i) y.push_back(f(x[at(a.shape(), i)], z[at(b.shape(), i)]));
  return y;
}

struct BinaryCase {
  const char* op;
  int opset;
  double (*reference)(double, double);
};

const BinaryCase kCases[] = {
    {"Add", 14, [](double a, double b) { return a + b; }},
    {"Sub", 14, [](double a, double b) { return a - b; }},
    {"Mul", 14, [](double a, double b) { return a * b; }},
    {"Div", 14, [](double a, double b) { return a / b; }},
    {"Max", 13, [](double a, double b) { return std::fmax(a, b); }},
    {"Min", 13, [](double a, double b) { return std::fmin(a, b); }},
    {"Sum", 13, [](double a, double b) { return a + b; }},
    {"Mean", 13, [](double a, double b) { return (a + b) / 2; }},
    {"Pow", 15, [](double a, double b) { return std::pow(a, b); }},
    {"Less", 13, [](double a, double b) { return a < b ? 1.0 : 0.0; }},
    {"LessOrEqual", 16, [](double a, double b) { return a <= b ? 1.0 : 0.0; }},
    {"Greater", 13, [](double a, double b) { return a > b ? 1.0 : 0.0; }},
    {"GreaterOrEqual", 16, [](double a, double b) { return a >= b ? 1.0 : 0.0; }},
    {"Equal", 13, [](double a, double b) { return a == b ? 1.0 : 0.0; }},
};

struct Shapes {
  Shape a, b, out;
};

const Shapes kShapes[] = {
    {{2, 3, 37}, {2, 3, 37}, {2, 3, 37}},
    {{}, {}, {}},
    {{5, 4}, {}, {5, 4}},
    {{}, {5, 4}, {5, 4}},
    {{6, 33}, {33}, {6, 33}},
    {{6, 33}, {6, 1}, {6, 33}},
    {{6, 1}, {1, 33}, {6, 33}},
    {{2, 3, 5, 7}, {3, 1, 1}, {2, 3, 5, 7}},
    {{3, 1, 5}, {2, 1, 4, 1}, {2, 3, 4, 5}},
    {{1, 1, 3}, {4, 2, 3}, {4, 2, 3}},
    {{0, 3}, {3}, {0, 3}},
    {{2, 0}, {1, 1}, {2, 0}},
    {{2, 1, 3, 1, 2}, {5, 1, 4, 1}, {2, 5, 3, 4, 2}},
    {{70000}, {1}, {70000}},
    {{300, 1, 300}, {1, 2, 300}, {300, 2, 300}},
    {{700, 3}, {3}, {700, 3}},
    {{700, 1}, {1, 4}, {700, 4}},
    {{60, 2, 5, 4}, {2, 1, 4}, {60, 2, 5, 4}},
    {{4, 90, 7}, {90, 1}, {4, 90, 7}},
    {{2, 3, 40, 11, 3}, {1, 3, 1, 1, 3}, {2, 3, 40, 11, 3}},
};

template <class T>
void check(const BinaryCase& item, const Shapes& shapes, double tolerance) {
  SCOPED_TRACE(join(item.op, " of ", name_of(kTypeOf<T>), shapes.a, " and ", shapes.b));
  Tensor a = random_tensor<T>(shapes.a, test_seed(), 0.5, 4);
  Tensor b = random_tensor<T>(shapes.b, test_seed() + 1, 0.5, 4);
  Tensor y = OpTest(item.op, item.opset).input(a).input(b).run_tensor();
  EXPECT_TRUE(near(y, shapes.out, broadcast_reference(a, b, shapes.out, item.reference), tolerance));
}

TEST(ElementwiseBinary, Broadcasts) {
  for (const BinaryCase& item : kCases) {
    for (const Shapes& shapes : kShapes) check<float>(item, shapes, 2e-6);
  }
}

TEST(ElementwiseBinary, TakesOtherFloats) {
  for (const BinaryCase& item : kCases) {
    for (size_t i : {0, 4, 5, 8, 15, 16, 17, 18, 19}) {
      check<double>(item, kShapes[i], 1e-14);
      check<Half>(item, kShapes[i], 1e-3);
      check<BFloat16>(item, kShapes[i], 8e-3);
    }
  }
}

template <class T>
Tensor run_pair(const char* op, const std::vector<T>& a, const std::vector<T>& b, int opset = 14) {
  Tensor x = tensor_of<T>({static_cast<int64_t>(a.size())}, a);
  Tensor y = tensor_of<T>({static_cast<int64_t>(b.size())}, b);
  return OpTest(op, opset).input(x).input(y).run_tensor();
}

TEST(ElementwiseBinary, IntegersWrapAround) {
  constexpr int32_t kLow = INT32_MIN;
  EXPECT_TRUE(equal<int32_t>(run_pair<int32_t>("Div", {kLow, 7, -7, 9}, {-1, 2, 2, -3}), {4}, {kLow, 3, -3, -3}));
  EXPECT_TRUE(equal<int8_t>(run_pair<int8_t>("Add", {127, -128}, {1, -1}), {2}, {-128, 127}));
  EXPECT_TRUE(equal<uint16_t>(run_pair<uint16_t>("Mul", {65535, 300}, {65535, 300}), {2}, {1, 24464}));
  EXPECT_TRUE(equal<uint8_t>(run_pair<uint8_t>("Sub", {0, 9}, {1, 4}), {2}, {255, 5}));
  EXPECT_TRUE(equal<int64_t>(run_pair<int64_t>("Max", {-5, 3}, {2, INT64_MIN}), {2}, {2, 3}));
  std::string text = OpTest("Div", 14).input<int32_t>({1}, {1}).input<int32_t>({1}, {0}).error();
  EXPECT_NE(text.find("an integer is divided by zero"), std::string::npos) << text;
}

TEST(ElementwiseBinary, ModHasTheSignItShould) {
  EXPECT_TRUE(equal<int32_t>(run_pair<int32_t>("Mod", {-7, 7, -6, INT32_MIN}, {3, -3, 3, -1}), {4}, {2, -2, 0, 0}));
  auto fmod = [](std::vector<float> a, std::vector<float> b) {
    return OpTest("Mod", 13).set("fmod", 1).input<float>({2}, a).input<float>({2}, b).run_tensor();
  };
  EXPECT_TRUE(near(fmod({-7.5, 7.5}, {3, -3}), {2}, {-1.5, 1.5}));
  EXPECT_NE(OpTest("Mod", 13).input<float>({1}, {1}).input<float>({1}, {1}).error().find("set fmod to 1"),
            std::string::npos);
  EXPECT_NE(OpTest("Mod", 13).input<uint8_t>({1}, {1}).input<uint8_t>({1}, {0}).error().find(
                "an integer is divided by zero (input 1)"),
            std::string::npos);
}

TEST(ElementwiseBinary, OldOpsetsAlignByAxis) {
  Tensor x = random_tensor<float>({2, 3, 4, 5}, test_seed());
  Tensor b = random_tensor<float>({3, 4}, test_seed() + 1);
  Tensor y = OpTest("Add", 6).set("broadcast", 1).set("axis", 1).input(x).input(b).run_tensor();
  auto add = [](double p, double q) { return p + q; };
  EXPECT_TRUE(near(y, {2, 3, 4, 5}, broadcast_reference(x, b.reshaped({3, 4, 1}), x.shape(), add)));
  Tensor suffix = random_tensor<float>({4, 5}, test_seed() + 2);
  y = OpTest("Add", 1).set("broadcast", 1).input(x).input(suffix).run_tensor();
  EXPECT_TRUE(near(y, {2, 3, 4, 5}, broadcast_reference(x, suffix, x.shape(), add)));
  std::string text = OpTest("Add", 6).set("broadcast", 1).set("axis", 3).input(x).input(b).error();
  EXPECT_NE(text.find("does not fit into [2,3,4,5] from axis 3 on"), std::string::npos) << text;
}

TEST(ElementwiseBinary, PReluSlopes) {
  Tensor x = random_tensor<float>({2, 3, 4}, test_seed());
  auto prelu = [](double v, double slope) { return v < 0 ? v * slope : v; };
  Tensor slope = random_tensor<float>({3, 1}, test_seed() + 1);
  Tensor y = OpTest("PRelu", 16).input(x).input(slope).run_tensor();
  EXPECT_TRUE(near(y, x.shape(), broadcast_reference(x, slope, x.shape(), prelu)));
  y = OpTest("PRelu", 6).input(x).input(slope.reshaped({3})).run_tensor();  // one a channel
  EXPECT_TRUE(near(y, x.shape(), broadcast_reference(x, slope, x.shape(), prelu)));
  EXPECT_NE(OpTest("PRelu", 16)
                .input(x)
                .input(random_tensor<float>({5, 2, 3, 4}, 1))
                .error()
                .find("shape [5,2,3,4] does not broadcast to [2,3,4]: its rank is"),
            std::string::npos);
}

TEST(ElementwiseBinary, VariadicFoldsAll) {
  Tensor a = random_tensor<Half>({2, 1}, test_seed()), b = random_tensor<Half>({3}, test_seed() + 1);
  Tensor y = OpTest("Sum", 13).input(a).input(b).input(a).run_tensor();
  auto once = [](double p, double q) { return static_cast<double>(static_cast<float>(Half(float(p + q + p)))); };
  EXPECT_TRUE(near(y, {2, 3}, broadcast_reference(a, b, {2, 3}, once), 1e-9));
  EXPECT_TRUE(same_value(OpTest("Max", 13).input(a).run_tensor(), a));
  Tensor nans = OpTest("Min", 13).input<float>({2}, {NAN, 1}).input<float>({2}, {1, NAN}).run_tensor();
  EXPECT_TRUE(near(nans, {2}, {NAN, NAN}));
}

TEST(Pow, MixesTypes) {
  auto pow = [](Tensor a, Tensor b) { return OpTest("Pow", 15).input(a).input(b).run_tensor(); };
  Tensor ints = tensor_of<int32_t>({4}, {-2, 3, -1, 7});
  EXPECT_TRUE(equal<int32_t>(pow(ints, tensor_of<int64_t>({}, {3})), {4}, {-8, 27, -1, 343}));
  EXPECT_TRUE(equal<int32_t>(pow(ints, tensor_of<int8_t>({}, {-1})), {4}, {0, 0, -1, 0}));
  EXPECT_TRUE(equal<int32_t>(pow(ints, tensor_of<float>({}, {2})), {4}, {4, 9, 1, 49}));
  EXPECT_TRUE(near(pow(tensor_of<float>({3}, {1, 2, 3}), tensor_of<int64_t>({3}, {2, -1, 0})), {3}, {1, 0.5, 1}));
  EXPECT_TRUE(near(pow(tensor_of<Half>({1}, {Half(3)}), tensor_of<double>({}, {2})), {1}, {9}));
  for (float exponent : {1.0f, 2.0f, 3.0f, -1.0f, 0.5f}) {
    Tensor x = random_tensor<float>({5}, test_seed(), 0.5, 3);
    auto reference = [&](double a, double) { return std::pow(a, exponent); };
    Tensor y = pow(x, tensor_of<float>({}, {exponent}));
    EXPECT_TRUE(near(y, {5}, broadcast_reference(x, x, {5}, reference), 1e-6));
  }
}

/** Whatever stands beside it, in whichever span. */
TEST(Pow, HalfPowersAreThoseOfEachElementAlone) {
  Tensor half = tensor_of<float>({1}, {0.5f}), x = random_tensor<float>({40}, test_seed(), 0, 9);
  x.mutable_data<float>()[3] = -INFINITY, x.mutable_data<float>()[5] = NAN;
  Tensor y = OpTest("Pow", 15).input(x).input(half).run_tensor();
  for (int64_t i = 0; i < 40; ++i) {
    float expected = i == 3 ? INFINITY : std::sqrt(x.data<float>()[i]);
    EXPECT_TRUE(y.data<float>()[i] == expected || i == 5) << i;
  }
}

TEST(Pow, HalfPowersOfSpecialValues) {
  Tensor half = tensor_of<float>({}, {0.5f});
  Tensor zeros = OpTest("Pow", 15).input<float>({2}, {-0.0f, 4}).input(half).run_tensor();
  EXPECT_TRUE(equal<float>(zeros, {2}, {0.0f, 2}));
  Tensor infinite = OpTest("Pow", 15).input<float>({3}, {-INFINITY, INFINITY, -1}).input(half).run_tensor();
  EXPECT_TRUE(near(infinite, {3}, {INFINITY, INFINITY, NAN}));
}

TEST(Comparison, BitsStringsAndShifts) {
  using Strings = std::vector<std::string>;
  Tensor words = OpTest("Equal", 19)
                     .input<std::string>({2, 2}, Strings{"a", "b", "c", ""})
                     .input<std::string>({2}, Strings{"a", ""})
                     .run_tensor();
  EXPECT_TRUE(equal<bool>(words, {2, 2}, {true, false, false, true}));
  EXPECT_TRUE(equal<bool>(run_pair<bool>("And", {true, true}, {false, true}), {2}, {false, true}));
  EXPECT_TRUE(equal<bool>(run_pair<bool>("Or", {true, false}, {false, false}), {2}, {true, false}));
  EXPECT_TRUE(equal<bool>(run_pair<bool>("Xor", {true, true}, {false, true}), {2}, {true, false}));
  EXPECT_TRUE(equal<int16_t>(run_pair<int16_t>("BitwiseAnd", {-1, 12}, {5, 10}, 18), {2}, {5, 8}));
  EXPECT_TRUE(equal<int16_t>(run_pair<int16_t>("BitwiseXor", {-1, 12}, {5, 10}, 18), {2}, {-6, 6}));
  auto shift = [](const char* way) {
    return OpTest("BitShift", 11)
        .set("direction", way)
        .input<uint8_t>({4}, {1, 128, 255, 3})
        .input<uint8_t>({4}, {7, 1, 8, 200})
        .run_tensor();
  };
  EXPECT_TRUE(equal<uint8_t>(shift("LEFT"), {4}, {128, 0, 0, 0}));
  EXPECT_TRUE(equal<uint8_t>(shift("RIGHT"), {4}, {0, 64, 0, 0}));
}

template <class T>
void check_where(const std::vector<T>& x, const std::vector<T>& y) {
  Tensor row = tensor_of<T>({1, 3}, x), one = tensor_of<T>({}, y);
  Tensor condition = tensor_of<bool>({2, 1}, {true, false});
  Tensor out = OpTest("Where", 16).input(condition).input(row).input(one).run_tensor();
  EXPECT_TRUE(equal<T>(out, {2, 3}, {x[0], x[1], x[2], y[0], y[0], y[0]}));
  condition = tensor_of<bool>({3}, {false, true, false});
  Tensor other = tensor_of<T>({3}, {y[0], y[0], x[0]});
  Tensor full = OpTest("Where", 9).input(condition).input(row.reshaped({3})).input(other).run_tensor();
  EXPECT_TRUE(equal<T>(full, {3}, {y[0], x[1], x[0]}));
}

TEST(Where, Selects) {
  check_where<float>({1, 2, 3}, {9});
  check_where<uint8_t>({1, 2, 3}, {9});
  check_where<Half>({Half(1), Half(2), Half(3)}, {Half(9)});
  check_where<double>({1, 2, 3}, {9});
  check_where<std::string>({"a", "b", "c"}, {"z"});
  check_where<std::complex<double>>({{1, 2}, {3, 4}, {5, 6}}, {{7, 8}});
  EXPECT_FALSE(OpTest("Where")
                   .input<bool>({2}, {true, false})
                   .input<float>({3}, {1, 2, 3})
                   .input<float>({}, {0})
                   .error()
                   .empty());
}

TEST(SwiGlu, GatesTheSecondInput) {
  Tensor a = random_tensor<float>({3, 40}, test_seed(), -4, 4), b = random_tensor<float>({3, 40}, test_seed() + 1);
  auto gated = [](double x, double y) { return x / (1 + std::exp(-x)) * y; };
  EXPECT_TRUE(near(OpTest("SwiGLU", 28).input(a).input(b).run_tensor(), a.shape(),
                   broadcast_reference(a, b, a.shape(), gated)));
}

}  // namespace
}  // namespace ortolan::test
