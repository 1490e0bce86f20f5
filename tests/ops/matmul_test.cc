// MatMul, Gemm, MatMulInteger and QLinearMatMul against sums in double.
#include "op_test.h"

namespace ortolan::test {
namespace {

/** a[rows, inner] times b[inner, columns], both by strides. */
std::vector<double> product(int64_t rows, int64_t inner, int64_t columns, const std::vector<double>& a, bool trans_a,
                            const std::vector<double>& b, bool trans_b) {
  std::vector<double> c(rows * columns, 0.0);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      for (int64_t p = 0; p < inner; ++p) {
        double x = trans_a ? a[p * rows + i] : a[i * inner + p];
        c[i * columns + j] += x * (trans_b ? b[j * inner + p] : b[p * columns + j]);
      }
    }
  }
  return c;
}

template <class T>
void check_plain(double tolerance, double low = -1, double high = 1) {
  uint32_t seed = test_seed();
  Tensor a = random_tensor<T>({5, 7}, seed, low, high), b = random_tensor<T>({7, 3}, seed + 1, low, high);
  Tensor y = OpTest("MatMul", 13).input(a).input(b).run_tensor();
  EXPECT_EQ(y.type(), kTypeOf<T>);
  EXPECT_TRUE(near(y, {5, 3}, product(5, 7, 3, doubles(a), false, doubles(b), false), tolerance));
}

TEST(MatMul, EveryType) {
  check_plain<float>(1e-5);
  check_plain<double>(1e-12);
  check_plain<Half>(2e-3);
  check_plain<BFloat16>(2e-2);
  check_plain<int32_t>(0, -9, 9);
  check_plain<uint32_t>(0, 0, 9);
  check_plain<int64_t>(0, -9, 9);
  check_plain<uint64_t>(0, 0, 9);
}

TEST(MatMul, IntegersWrap) {
  Tensor y = OpTest("MatMul", 9).input<int32_t>({1, 2}, {INT32_MAX, 1}).input<int32_t>({2, 1}, {1, 1}).run_tensor();
  EXPECT_TRUE(equal<int32_t>(y, {1, 1}, {INT32_MIN}));
}

struct StackCase {
  Shape a, b, y;
};

TEST(MatMul, StacksAndVectors) {
  const StackCase cases[] = {{{4}, {4}, {}},
                             {{4}, {4, 3}, {3}},
                             {{2, 4}, {4}, {2}},
                             {{3, 2, 4}, {4, 5}, {3, 2, 5}},
                             {{2, 1, 2, 4}, {3, 4, 5}, {2, 3, 2, 5}},
                             {{1, 2, 4}, {3, 4, 1}, {3, 2, 1}},
                             {{4}, {3, 4, 2}, {3, 2}},
                             {{3, 2, 4}, {4}, {3, 2}}};
  for (const StackCase& c : cases) {
    Tensor a = random_tensor<float>(c.a, 3), b = random_tensor<float>(c.b, 4);
    Tensor y = OpTest("MatMul").input(a).input(b).run_tensor();
    EXPECT_EQ(join(y.shape()), join(c.y));
    int64_t inner = c.a.back(), rows = c.a.rank() > 1 ? c.a[c.a.rank() - 2] : 1;
    int64_t columns = c.b.rank() > 1 ? c.b.back() : 1;
    std::vector<double> x = doubles(a), w = doubles(b), expected;
    int64_t stack_a = a.element_count() / (rows * inner), stack_b = b.element_count() / (inner * columns);
    int64_t count = y.element_count() / (rows * columns);
    for (int64_t i = 0; i < count; ++i) {
      int64_t ia = stack_a == count ? i
                   : stack_a == 1   ? 0
                                    : i / (count / stack_a),
              ib = stack_b == count ? i : i % stack_b;
      std::vector<double> left(x.begin() + ia * rows * inner, x.begin() + (ia + 1) * rows * inner);
      std::vector<double> right(w.begin() + ib * inner * columns, w.begin() + (ib + 1) * inner * columns);
      auto part = product(rows, inner, columns, left, false, right, false);
      expected.insert(expected.end(), part.begin(), part.end());
    }
    EXPECT_TRUE(near(y, c.y, expected)) << join(c.a, " x ", c.b);
  }
}

TEST(MatMul, EmptySizes) {
  auto run = [](Shape a, Shape b) {
    return OpTest("MatMul").input(random_tensor<float>(a, 1)).input(random_tensor<float>(b, 2)).run_tensor();
  };
  EXPECT_TRUE(near(run({2, 0}, {0, 3}), {2, 3}, {0, 0, 0, 0, 0, 0}));
  EXPECT_TRUE(near(run({0, 2}, {2, 3}), {0, 3}, {}));
  EXPECT_TRUE(near(run({0, 2, 2}, {1, 2, 3}), {0, 2, 3}, {}));
}

TEST(MatMul, SaysWhatDoesNotFit) {
  std::string text = OpTest("MatMul").input<float>({1, 2}, {1, 2}).input<float>({3, 1}, {1, 2, 3}).error();
  EXPECT_NE(text.find("[1,2] times [3,1]"), std::string::npos) << text;
}

struct GemmCase {
  int opset;
  bool trans_a, trans_b;
  float alpha, beta;
  std::optional<Shape> c;
};

TEST(Gemm, EveryForm) {
  const GemmCase cases[] = {{6, false, false, 1, 1, Shape{4}},     {7, true, false, 0.5f, 1, Shape{1, 4}},
                            {9, false, true, 1, 2, Shape{3, 1}},   {11, true, true, 2, 0.5f, Shape{3, 4}},
                            {13, false, false, 1, 1, Shape{3, 4}}, {13, false, true, 1, 1, std::nullopt},
                            {13, false, false, 1, 1, Shape{}},     {13, true, true, 1, 1, Shape{3, 1}}};
  for (const GemmCase& c : cases) {
    Tensor a = random_tensor<float>(c.trans_a ? Shape{5, 3} : Shape{3, 5}, 5);
    Tensor b = random_tensor<float>(c.trans_b ? Shape{4, 5} : Shape{5, 4}, 6);
    OpTest test("Gemm", c.opset);
    test.input(a).input(b).set("transA", c.trans_a).set("transB", c.trans_b).set("alpha", c.alpha).set("beta", c.beta);
    if (c.opset < 7) test.set("broadcast", 1);
    auto expected = product(3, 5, 4, doubles(a), c.trans_a, doubles(b), c.trans_b);
    for (double& v : expected) v *= c.alpha;
    if (c.c) {
      Tensor addend = random_tensor<float>(*c.c, 7);
      test.input(addend);
      auto extra = doubles(addend);
      bool rows = c.c->rank() == 2 && (*c.c)[0] == 3, columns = c.c->rank() > 0 && c.c->back() == 4;
      for (int i = 0; i < 12; ++i) {
        expected[i] += c.beta * extra[(rows ? i / 4 : 0) * (columns ? 4 : 1) + (columns ? i % 4 : 0)];
      }
    }
    EXPECT_TRUE(near(test.run_tensor(), {3, 4}, expected)) << "opset " << c.opset << " alpha " << c.alpha;
  }
}

TEST(Gemm, OtherTypes) {
  auto run = []<class T>(TypeTag<T>) {
    OpTest test("Gemm", 13);
    test.input(tensor_of<T>({1, 2}, {T(2), T(3)})).input(tensor_of<T>({2, 1}, {T(4), T(5)}));
    return test.input(tensor_of<T>({1}, {T(7)})).run_tensor();
  };
  EXPECT_TRUE(equal<int32_t>(run(TypeTag<int32_t>{}), {1, 1}, {30}));
  EXPECT_TRUE(equal<uint64_t>(run(TypeTag<uint64_t>{}), {1, 1}, {30}));
  EXPECT_TRUE(near(run(TypeTag<double>{}), {1, 1}, {30}));
  EXPECT_TRUE(near(run(TypeTag<Half>{}), {1, 1}, {30}));
  Tensor scaled =
      OpTest("Gemm", 11).set("alpha", 0.5f).input<int32_t>({1, 1}, {3}).input<int32_t>({1, 1}, {3}).run_tensor();
  EXPECT_TRUE(equal<int32_t>(scaled, {1, 1}, {4}));
}

TEST(Gemm, SaysWhatDoesNotFit) {
  std::string text =
      OpTest("Gemm").input<float>({1, 1}, {1}).input<float>({1, 2}, {1, 2}).input<float>({3}, {1, 2, 3}).error();
  EXPECT_NE(text.find("does not broadcast"), std::string::npos) << text;
}

TEST(MatMulInteger, ZeroPointsByRowAndColumn) {
  Tensor a = random_tensor<uint8_t>({2, 3, 8}, 1, 0, 255), b = random_tensor<int8_t>({8, 4}, 2, -128, 127);
  Tensor y = OpTest("MatMulInteger", 10)
                 .input(a)
                 .input(b)
                 .input<uint8_t>({3}, {1, 128, 255})
                 .input<int8_t>({4}, {0, -3, 5, 127})
                 .run_tensor();
  auto x = doubles(a), w = doubles(b);
  const double za[] = {1, 128, 255}, zb[] = {0, -3, 5, 127};
  std::vector<double> expected;
  for (int row = 0; row < 6; ++row) {
    for (int j = 0; j < 4; ++j) {
      double sum = 0;
      for (int p = 0; p < 8; ++p) sum += (x[row * 8 + p] - za[row % 3]) * (w[p * 4 + j] - zb[j]);
      expected.push_back(sum);
    }
  }
  EXPECT_TRUE(near(y, {2, 3, 4}, expected, 0));
}

TEST(QLinearMatMul, ScalesAndRounds) {
  Tensor a = random_tensor<uint8_t>({3, 6}, 1, 0, 255), b = random_tensor<uint8_t>({6, 2}, 2, 0, 255);
  Tensor y = OpTest("QLinearMatMul", 10)
                 .input(a)
                 .input<float>({1}, {0.02f})
                 .input<uint8_t>({1}, {113})
                 .input(b)
                 .input<float>({2}, {0.01f, 0.03f})
                 .input<uint8_t>({2}, {114, 10})
                 .input<float>({1}, {0.05f})
                 .input<uint8_t>({1}, {118})
                 .run_tensor();
  auto x = doubles(a), w = doubles(b);
  const double zb[] = {114, 10}, sb[] = {0.01, 0.03};
  std::vector<double> expected;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 2; ++j) {
      double sum = 0;
      for (int p = 0; p < 6; ++p) sum += (x[i * 6 + p] - 113) * (w[p * 2 + j] - zb[j]);
      expected.push_back(std::clamp(std::nearbyint(sum * 0.02 * sb[j] / 0.05) + 118, 0.0, 255.0));
    }
  }
  auto actual = doubles(y);
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1) << i;
}

}  // namespace
}  // namespace ortolan::test
