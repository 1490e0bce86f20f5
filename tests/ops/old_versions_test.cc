// The forms that operators had in early opsets, where they differ from today's: attributes in place of inputs, limited
// broadcasting, two dimensions made of many.
#include <cmath>

#include "op_test.h"

namespace ortolan::test {
namespace {

using Doubles = std::vector<double>;

struct OldArithmetic {
  const char* op;
  double (*reference)(double, double);
};
const OldArithmetic kArithmetic[] = {{"Add", [](double a, double b) { return a + b; }},
                                     {"Sub", [](double a, double b) { return a - b; }},
                                     {"Mul", [](double a, double b) { return a * b; }},
                                     {"Div", [](double a, double b) { return a / b; }},
                                     {"Pow", [](double a, double b) { return std::pow(a, b); }}};

/** y[o][m][i] = f(a[o][m][i], b[m]): what attributes broadcast and axis say for b. */
Doubles along_axis(const Tensor& a, const Tensor& b, int64_t inner, double (*f)(double, double)) {
  Doubles x = doubles(a), z = doubles(b), y;
  for (size_t i = 0; i < x.size(); ++i) y.push_back(f(x[i], z[i / static_cast<size_t>(inner) % z.size()]));
  return y;
}

TEST(OldVersions, ArithmeticBroadcastsWhereItIsTold) {
  Tensor a = random_tensor<float>({2, 3, 4, 5}, test_seed(), 0.5, 2);
  struct Case {
    Shape shape;
    int64_t axis, inner;
  };
  const Case cases[] = {{{3, 4}, 1, 5}, {{3}, 1, 20}, {{2}, 0, 60}, {{4, 5}, -1, 1}, {{5}, 3, 1}, {{1}, -1, 1}};
  for (const OldArithmetic& arithmetic : kArithmetic) {
    for (const Case& c : cases) {
      Tensor b = random_tensor<float>(c.shape, test_seed() + 1, 0.5, 2);
      for (int opset : {1, 6}) {
        OpTest test(arithmetic.op, opset);
        test.input(a).input(b).set("broadcast", 1);
        if (c.axis >= 0) test.set("axis", c.axis);
        Doubles expected = along_axis(a, b, c.inner, arithmetic.reference);
        EXPECT_TRUE(near(test.run_tensor(), a.shape(), expected)) << arithmetic.op << opset << b.shape().rank();
      }
    }
    EXPECT_NE(OpTest(arithmetic.op, 6)
                  .input(a)
                  .input(Tensor(ElementType::kFloat, {4}))
                  .set("broadcast", 1)
                  .error()
                  .find("shape [4] does not broadcast to [2,3,4,5]: dimension 4 is"),
              std::string::npos);
  }
}

TEST(OldVersions, ComparisonAndLogicBroadcastWhereTheyAreTold) {
  for (int opset : {1, 6}) {
    auto test = [&](const char* op) { return OpTest(op, opset).set("broadcast", 1).set("axis", 0); };
    Tensor less = test("Less").input<float>({2, 2}, {1, 2, 3, 4}).input<float>({2}, {2, 3}).run_tensor();
    EXPECT_TRUE(equal<bool>(less, {2, 2}, {true, false, false, false}));
    Tensor same = test("Equal").input<int32_t>({2, 2}, {1, 2, 3, 4}).input<int32_t>({2}, {2, 3}).run_tensor();
    EXPECT_TRUE(equal<bool>(same, {2, 2}, {false, true, true, false}));
    Tensor either =
        test("Or").input<bool>({2, 2}, {true, false, true, false}).input<bool>({2}, {false, true}).run_tensor();
    EXPECT_TRUE(equal<bool>(either, {2, 2}, {true, false, true, true}));
  }
}

TEST(OldVersions, GemmAddsARowWhereItIsTold) {
  Tensor a = random_tensor<float>({3, 2}, test_seed()), b = random_tensor<float>({3, 4}, test_seed() + 1);
  Tensor row = random_tensor<float>({4}, test_seed() + 2), full = random_tensor<float>({2, 4}, test_seed() + 3);
  Doubles x = doubles(a), w = doubles(b);
  for (int opset : {1, 6, 7, 9, 11, 13}) {
    for (const Tensor& c : {row, full}) {
      OpTest test("Gemm", opset);
      test.input(a).input(b).input(c).set("transA", 1).set("alpha", 0.5f).set("beta", 2.0f);
      if (opset < 7) test.set("broadcast", c.rank() == 1 ? 1 : 0);
      Doubles expected, addend = doubles(c);
      for (size_t i = 0; i < 8; ++i) {
        double sum = 2 * addend[i % addend.size()];
        for (size_t k = 0; k < 3; ++k) sum += 0.5 * x[k * 2 + i / 4] * w[k * 4 + i % 4];
        expected.push_back(sum);
      }
      EXPECT_TRUE(near(test.run_tensor(), {2, 4}, expected)) << opset;
    }
  }
}

TEST(OldVersions, PReluHasASlopeAChannel) {
  Tensor x = random_tensor<float>({2, 3, 4}, test_seed());
  for (int opset : {1, 6}) {
    for (const Tensor& slope : {tensor_of<float>({3}, {2, 3, 4}), tensor_of<float>({1}, {2})}) {
      Doubles expected = along_axis(x, slope, 4, [](double v, double s) { return v < 0 ? v * s : v; });
      EXPECT_TRUE(near(OpTest("PRelu", opset).input(x).input(slope).run_tensor(), {2, 3, 4}, expected)) << opset;
    }
  }
  Tensor slope = tensor_of<float>({3, 1}, {2, 3, 4});
  Doubles expected = along_axis(x, slope, 4, [](double v, double s) { return v < 0 ? v * s : v; });
  for (int opset : {7, 9, 16}) {
    EXPECT_TRUE(near(OpTest("PRelu", opset).input(x).input(slope).run_tensor(), {2, 3, 4}, expected)) << opset;
  }
}

TEST(OldVersions, BatchNormalizationOfInference) {
  Tensor x = random_tensor<float>({2, 3, 4}, test_seed());
  auto node = [&](int opset, const Shape& shape) {
    OpTest test("BatchNormalization", opset);
    test.input(x);
    for (uint32_t i = 1; i < 5; ++i) test.input(random_tensor<float>(shape, test_seed() + i, 0.5, 2));
    return test;
  };
  auto expected = [&](const Shape& shape, int64_t inner) {
    Doubles p[4], y, v = doubles(x);
    for (uint32_t i = 0; i < 4; ++i) p[i] = doubles(random_tensor<float>(shape, test_seed() + i + 1, 0.5, 2));
    for (size_t i = 0; i < v.size(); ++i) {
      size_t j = i / static_cast<size_t>(inner) % p[0].size();
      y.push_back((v[i] - p[2][j]) / std::sqrt(p[3][j] + 1e-5) * p[0][j] + p[1][j]);
    }
    return y;
  };
  for (int opset : {1, 6}) {
    EXPECT_TRUE(near(node(opset, {3}).set("is_test", 1).run_tensor(), {2, 3, 4}, expected({3}, 4), 1e-4)) << opset;
  }
  for (int opset : {7, 8, 9, 14, 15}) {
    EXPECT_TRUE(near(node(opset, {3}).run_tensor(), {2, 3, 4}, expected({3}, 4), 1e-4)) << opset;
  }
  EXPECT_TRUE(near(node(7, {3, 4}).set("spatial", 0).run_tensor(), {2, 3, 4}, expected({3, 4}, 1), 1e-4));
}

TEST(OldVersions, AveragePoolLeavesPadsOut) {
  for (int opset : {1, 7, 10, 11, 19, 22}) {
    OpTest test("AveragePool", opset);
    test.input<float>({1, 1, 4}, {1, 2, 3, 4}).ints("kernel_shape", {3}).ints("pads", {1, 1});
    EXPECT_TRUE(near(test.run_tensor(), {1, 1, 4}, {1.5, 2, 3, 3.5})) << opset;
    if (opset < 7) continue;
    EXPECT_TRUE(near(test.set("count_include_pad", 1).run_tensor(), {1, 1, 4}, {1, 2, 3, 7.0 / 3})) << opset;
  }
}

TEST(OldVersions, ReluAndClipByAttributes) {
  for (int opset : {1, 6, 13, 14}) {
    EXPECT_TRUE(near(OpTest("Relu", opset).input<float>({3}, {-1, 0, 2}).run_tensor(), {3}, {0, 0, 2})) << opset;
  }
  for (int opset : {1, 6}) {
    OpTest test("Clip", opset);
    test.input<float>({3}, {-1, 0.25, 2});
    EXPECT_TRUE(near(test.run_tensor(), {3}, {-1, 0.25, 2})) << opset;
    EXPECT_TRUE(near(test.set("min", 0.0f).set("max", 1.0f).run_tensor(), {3}, {0, 0.25, 1})) << opset;
  }
  Tensor clipped = OpTest("Clip", 11).input<float>({2}, {-1, 2}).input<float>({}, {0}).run_tensor();
  EXPECT_TRUE(near(clipped, {2}, {0, 2}));
}

TEST(OldVersions, DropoutPassesOn) {
  Tensor x = tensor_of<float>({2, 2}, {1, 2, 3, 4});
  for (int opset : {1, 6}) {
    EXPECT_TRUE(near(OpTest("Dropout", opset).input(x).set("is_test", 1).run_tensor(), {2, 2}, {1, 2, 3, 4}));
  }
  for (int opset : {7, 10, 12, 13, 22}) {
    EXPECT_TRUE(near(OpTest("Dropout", opset).input(x).run_tensor(), {2, 2}, {1, 2, 3, 4})) << opset;
  }
  for (int opset : {10, 12, 13}) {
    auto results = OpTest("Dropout", opset).input(x).run(2);
    EXPECT_TRUE(equal<bool>(results[1].tensor(), {2, 2}, {true, true, true, true})) << opset;
  }
}

/** Softmax of rows of `columns`. */
Doubles row_softmax(const Doubles& x, size_t columns) {
  Doubles y;
  for (size_t i = 0; i < x.size(); ++i) {
    double sum = 0;
    for (size_t j = 0; j < columns; ++j) sum += std::exp(x[i / columns * columns + j]);
    y.push_back(std::exp(x[i]) / sum);
  }
  return y;
}

TEST(OldVersions, SoftmaxMakesTwoDimensions) {
  Tensor x = random_tensor<float>({2, 3, 4}, test_seed());
  for (int opset : {1, 11, 12}) {
    for (int64_t axis : {0, 1, 2}) {
      size_t columns = axis == 0 ? 24 : axis == 1 ? 12 : 4;
      Doubles expected = row_softmax(doubles(x), columns);
      EXPECT_TRUE(near(OpTest("Softmax", opset).input(x).set("axis", axis).run_tensor(), x.shape(), expected)) << opset;
      if (axis == 1) {
        EXPECT_TRUE(near(OpTest("Softmax", opset).input(x).run_tensor(), x.shape(), expected)) << opset;
      }
      for (double& value : expected) value = std::log(value);
      EXPECT_TRUE(near(OpTest("LogSoftmax", opset).input(x).set("axis", axis).run_tensor(), x.shape(), expected));
    }
    Tensor hard = OpTest("Hardmax", opset).input<float>({1, 2, 2}, {1, 4, 3, 2}).run_tensor();
    EXPECT_TRUE(near(hard, {1, 2, 2}, {0, 1, 0, 0})) << opset;
  }
  Doubles last = row_softmax(doubles(x), 4);
  EXPECT_TRUE(near(OpTest("Softmax", 13).input(x).run_tensor(), x.shape(), last));
}

TEST(OldVersions, ShapesByAttributes) {
  Tensor x = tensor_of<float>({1, 4, 1}, {1, 2, 3, 4});
  for (int opset : {1, 11}) {
    EXPECT_EQ(OpTest("Squeeze", opset).input(x).ints("axes", {0, 2}).run_tensor().shape(), (Shape{4}));
    EXPECT_EQ(OpTest("Squeeze", opset).input(x).run_tensor().shape(), (Shape{4}));
    EXPECT_EQ(OpTest("Unsqueeze", opset).input(x).ints("axes", {0, 4}).run_tensor().shape(), (Shape{1, 1, 4, 1, 1}));
  }
  EXPECT_EQ(OpTest("Squeeze", 11).input(x).ints("axes", {-1}).run_tensor().shape(), (Shape{1, 4}));
  EXPECT_EQ(OpTest("Reshape", 1).input(x).ints("shape", {0, -1}).run_tensor().shape(), (Shape{1, 4}));
  for (int opset : {1, 10, 11, 13}) {
    OpTest slice("Slice", opset);
    slice.input(x);
    if (opset == 1) {
      slice.ints("starts", {1}).ints("ends", {-1}).ints("axes", {1});
    } else {
      slice.input<int64_t>({1}, {1}).input<int64_t>({1}, {-1}).input<int64_t>({1}, {1});
    }
    EXPECT_TRUE(near(slice.run_tensor(), {1, 2, 1}, {2, 3})) << opset;
  }
}

TEST(OldVersions, SplitByAttributes) {
  for (int opset : {1, 2, 11}) {
    OpTest test("Split", opset);
    test.input<float>({4}, {1, 2, 3, 4}).set("axis", 0);
    auto even = test.run(2);
    EXPECT_TRUE(near(even[1].tensor(), {2}, {3, 4})) << opset;
    auto given = test.ints("split", {1, 3}).run(2);
    EXPECT_TRUE(near(given[0].tensor(), {1}, {1})) << opset;
    EXPECT_TRUE(near(given[1].tensor(), {3}, {2, 3, 4})) << opset;
  }
}

TEST(OldVersions, CastByNameAndNumber) {
  Tensor x = tensor_of<float>({3}, {-1.5f, 0, 2.75f});
  EXPECT_TRUE(equal<int32_t>(OpTest("Cast", 1).input(x).set("to", "INT32").run_tensor(), {3}, {-1, 0, 2}));
  for (int opset : {6, 9, 13, 19}) {
    EXPECT_TRUE(equal<int32_t>(OpTest("Cast", opset).input(x).set("to", 6).run_tensor(), {3}, {-1, 0, 2})) << opset;
  }
  EXPECT_NE(OpTest("Cast", 1).input(x).set("to", "NOTHING").error().find("attribute to is 'NOTHING'"),
            std::string::npos);
}

TEST(OldVersions, BitwiseOr) {
  auto test = [](auto tag) {
    using T = decltype(tag);
    Tensor y = OpTest("BitwiseOr", 18).input<T>({2, 2}, {1, 2, 12, 0}).template input<T>({2}, {3, 8}).run_tensor();
    EXPECT_TRUE(equal<T>(y, {2, 2}, {3, 10, 15, 8}));
    EXPECT_EQ(OpTest("BitwiseOr", 18).input<T>({0}, {}).template input<T>({}, {1}).run_tensor().shape(), (Shape{0}));
  };
  test(int8_t{}), test(int16_t{}), test(int32_t{}), test(int64_t{});
  test(uint8_t{}), test(uint16_t{}), test(uint32_t{}), test(uint64_t{});
  EXPECT_NE(OpTest("BitwiseOr", 18)
                .input<float>({1}, {1})
                .input<float>({1}, {1})
                .error()
                .find("input 0 'x0' is float, but 'BitwiseOr' of opset 18 takes uint8,"),
            std::string::npos);
}

}  // namespace
}  // namespace ortolan::test
