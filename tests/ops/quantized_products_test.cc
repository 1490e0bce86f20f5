// Products of quantised integers against sums in double.
#include <cmath>
#include <limits>

#include "byte_reference.h"
#include "nd_index.h"

namespace ortolan::test {
namespace {

OpTest node(const char* op) { return OpTest(op, 1, "com.microsoft"); }

template <class T>
std::vector<float> column_scales(int64_t n) {
  std::vector<float> scales;
  for (int64_t j = 0; j < n; ++j) scales.push_back(0.01f * static_cast<float>(j % 5 + 1));
  return scales;
}
template <class T>
std::vector<T> column_zeros(int64_t n) {
  std::vector<T> zeros;
  for (int64_t j = 0; j < n; ++j) zeros.push_back(static_cast<T>(j * 37));
  return zeros;
}

/** sum over k of a[i,k] * b_scale[j] * (b[k,j] - b_zero[j]) for the stack's products. */
template <class T>
std::vector<double> product(const std::vector<double>& a, const Tensor& b, int64_t m, const std::vector<float>& scales,
                            const std::vector<T>& zeros, bool trans_b = false) {
  int64_t n = static_cast<int64_t>(scales.size()), k = static_cast<int64_t>(a.size()) / std::max<int64_t>(m, 1);
  std::vector<double> y(static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m * n * k; ++i) {
    int64_t row = i / (n * k), column = i / k % n, at = i % k;
    double right = b.data<T>()[trans_b ? column * k + at : at * n + column] - zeros[column];
    y[row * n + column] += a[row * k + at] * right * double{scales[column]};
  }
  return y;
}

template <class T>
class ByteProducts : public OnBytes<T> {};
TYPED_TEST_SUITE(ByteProducts, ByteTypes);

TYPED_TEST(ByteProducts, MatMulIntegerToFloat) {
  auto check = [](Shape a_shape, int64_t n, Shape y_shape) {
    int64_t k = a_shape.back(), m = k > 0 ? a_shape.element_count() / k : a_shape.count_to(a_shape.rank() - 1);
    RandomBytes<uint8_t> a(a_shape, test_seed(), 0.02f, 100);
    RandomBytes<TypeParam> b({k, n}, test_seed() + 1);
    auto scales = column_scales<TypeParam>(n);
    auto zeros = column_zeros<TypeParam>(n);
    OpTest test = node("MatMulIntegerToFloat");
    test.input(a.bytes).input(b.bytes).template input<float>({}, {a.scale}).template input<float>({n}, scales);
    test.template input<uint8_t>({}, {a.zero}).template input<TypeParam>({n}, zeros);
    Tensor bias = random_tensor<float>({n}, test_seed());
    test.input(bias);
    std::vector<double> left;
    for (int64_t i = 0; i < a.count(); ++i) left.push_back(a.value(i));
    std::vector<double> expected = product(left, b.bytes, m, scales, zeros);
    for (size_t i = 0; i < expected.size(); ++i) expected[i] += bias.data<float>()[i % n];
    EXPECT_TRUE(near(test.run_tensor(), y_shape, expected, 1e-4)) << join(a_shape);
  };
  check({3, 20}, 7, {3, 7});
  check({2, 3, 16}, 33, {2, 3, 33});
  check({20}, 7, {7});
  check({0, 4}, 3, {0, 3});
  check({2, 0}, 3, {2, 3});
}

TYPED_TEST(ByteProducts, MatMulIntegerToFloatOfStacks) {
  RandomBytes<uint8_t> a({2, 3, 4}, test_seed(), 0.02f, 0);
  RandomBytes<TypeParam> b({2, 4, 5}, test_seed() + 1, 0.03f, 0);
  OpTest test = node("MatMulIntegerToFloat");
  test.input(a.bytes).input(b.bytes).template input<float>({}, {a.scale});
  auto scales = column_scales<TypeParam>(5);
  test.template input<float>({5}, scales).no_input().no_input().template input<float>({5}, {1, 2, 3, 4, 5});
  std::vector<double> expected;
  for_each_index({2, 3, 5}, [&](const Index& at) {
    double sum = at[2] + 1;
    for (int64_t k = 0; k < 4; ++k) {
      sum += a.value((at[0] * 3 + at[1]) * 4 + k) * b.bytes.template data<TypeParam>()[(at[0] * 4 + k) * 5 + at[2]] *
             double{scales[at[2]]};
    }
    expected.push_back(sum);
  });
  EXPECT_TRUE(near(test.run_tensor(), {2, 3, 5}, expected, 1e-4));
}

TYPED_TEST(ByteProducts, DynamicQuantizeMatMul) {
  int64_t m = 5, k = 40, n = 9;
  Tensor a = random_tensor<float>({m, k}, test_seed(), -2, 1);
  RandomBytes<TypeParam> b({k, n}, test_seed() + 1);
  auto scales = column_scales<TypeParam>(n);
  auto zeros = column_zeros<TypeParam>(n);
  OpTest test = node("DynamicQuantizeMatMul");
  test.input(a).input(b.bytes).template input<float>({n}, scales).template input<TypeParam>({n}, zeros);
  auto [low, high] = std::minmax_element(a.data<float>(), a.data<float>() + m * k);
  float step = (*high - *low) / 255.0f, zero = std::nearbyint(-*low / step);
  std::vector<double> left;
  for (float x : a.span<float>()) {
    left.push_back(double{step} * (std::clamp(std::nearbyint(x / step) + zero, 0.0f, 255.0f) - zero));
  }
  EXPECT_TRUE(near(test.run_tensor(), {m, n}, product(left, b.bytes, m, scales, zeros), 1e-4));
  OpTest wrong = node("DynamicQuantizeMatMul").input(a).input(b.bytes).template input<float>({2}, {1, 1});
  EXPECT_NE(wrong.error().find("b_scale has shape [2]"), std::string::npos);
}

TYPED_TEST(ByteProducts, DynamicQuantizeMatMulKeepsNan) {
  RandomBytes<TypeParam> flat({4, 5}, test_seed()), stacked({2, 4, 5}, test_seed());
  Tensor x = random_tensor<float>({2, 3, 4}, test_seed());
  for (int64_t at : {2 * 4 + 1, 3 * 4, 5 * 4 + 3}) x.mutable_data<float>()[at] = NAN;
  for (const Tensor& b : {flat.bytes, stacked.bytes}) {
    Tensor y = node("DynamicQuantizeMatMul").input(x).input(b).template input<float>({1}, {0.1f}).run_tensor();
    for (int64_t i = 0; i < 30; ++i) {
      const int64_t row = i / 5;
      EXPECT_EQ(std::isnan(y.data<float>()[i]), row == 2 || row == 3 || row == 5) << i;
    }
  }
}

TYPED_TEST(ByteProducts, QGemm) {
  auto check = [](bool trans_a, bool trans_b, Shape c_shape, bool quantised) {
    int64_t m = 6, k = 21, n = 10;
    RandomBytes<TypeParam> a(trans_a ? Shape{k, m} : Shape{m, k}, test_seed(), 0.02f, 100);
    RandomBytes<TypeParam> b(trans_b ? Shape{n, k} : Shape{k, n}, test_seed() + 1);
    auto scales = column_scales<TypeParam>(n);
    auto zeros = column_zeros<TypeParam>(n);
    OpTest test = node("QGemm").set("transA", trans_a).set("transB", trans_b).set("alpha", 0.5f);
    a.add_to(test);
    test.input(b.bytes).template input<float>({n}, scales).template input<TypeParam>({n}, zeros);
    Tensor c(ElementType::kInt32, c_shape);
    for (int64_t i = 0; i < c.element_count(); ++i) c.mutable_data<int32_t>()[i] = static_cast<int32_t>(i * 321 - 900);
    test.input(c);
    if (quantised) test.template input<float>({}, {1.5f}).template input<TypeParam>({}, {17});
    std::vector<double> left;
    for (int64_t i = 0; i < m * k; ++i) left.push_back(a.value(trans_a ? i % k * m + i / k : i) * 0.5);
    std::vector<double> expected = product(left, b.bytes, m, scales, zeros, trans_b);
    for (int64_t i = 0; i < m * n; ++i) {
      int64_t row = c_shape.rank() == 2 && c_shape[0] > 1 ? i / n * c_shape[1] : 0;
      int64_t column = c_shape.rank() > 0 && c_shape.back() > 1 ? i % n : 0;
      expected[i] += c.data<int32_t>()[row + column] * 0.5 * double{a.scale} * double{scales[i % n]};
    }
    Tensor y = test.run_tensor();
    if (!quantised) {
      EXPECT_TRUE(near(y, {m, n}, expected, 1e-4));
    } else {
      EXPECT_TRUE((codes_near<TypeParam>(y, {m, n}, expected, 1.5, 17)));
    }
  };
  for (int form = 0; form < 8; ++form) {
    for (const Shape& c : {Shape{10}, Shape{1, 10}, Shape{6, 1}, Shape{6, 10}, Shape{}, Shape{1}}) {
      check(form & 1, form & 2, c, form & 4);
    }
  }
}

TEST(QGemm, Errors) {
  auto gemm = [](Shape a, Shape c) {
    OpTest test = node("QGemm");
    test.input(random_tensor<uint8_t>(a, 1, 0, 9)).input<float>({}, {1}).input<uint8_t>({}, {0});
    test.input(random_tensor<uint8_t>({3, 2}, 1, 0, 9)).input<float>({}, {1}).input<uint8_t>({}, {0});
    return test.input(random_tensor<int32_t>(c, 1, 0, 9)).error();
  };
  EXPECT_NE(gemm({2, 4}, {1}).find("their inner dimensions differ"), std::string::npos);
  EXPECT_NE(gemm({2, 3}, {3}).find("does not broadcast to [2,2]"), std::string::npos);
  EXPECT_EQ(gemm({0, 3}, {1}), "");
}

template <class A, class B>
void check_16(Shape a_shape, Shape b_shape, Shape y_shape) {
  Tensor a = random_tensor<A>(a_shape, test_seed(), std::numeric_limits<A>::min(), std::numeric_limits<A>::max());
  Tensor b = random_tensor<B>(b_shape, test_seed() + 1, std::numeric_limits<B>::min(), std::numeric_limits<B>::max());
  int64_t k = a_shape.back(), n = y_shape.back();
  std::vector<uint32_t> expected;
  for (int64_t i = 0; i < y_shape.element_count(); ++i) {
    uint32_t sum = 0;
    for (int64_t j = 0; j < k; ++j) {
      sum += static_cast<uint32_t>(a.data<A>()[i / n * k + j]) * static_cast<uint32_t>(b.data<B>()[j * n + i % n]);
    }
    expected.push_back(sum);
  }
  Tensor y = node("MatMulInteger16").input(a).input(b).run_tensor();
  EXPECT_EQ(y.shape(), y_shape);
  EXPECT_EQ(y.type(), std::is_unsigned_v<A> && std::is_unsigned_v<B> ? ElementType::kUInt32 : ElementType::kInt32);
  EXPECT_EQ(std::vector<uint32_t>(static_cast<const uint32_t*>(y.raw()),
                                  static_cast<const uint32_t*>(y.raw()) + y.element_count()),
            expected);
}

TEST(MatMulInteger16, SignsAndShapes) {
  check_16<int16_t, int16_t>({3, 70}, {70, 5}, {3, 5});
  check_16<int16_t, uint16_t>({2, 3, 7}, {7, 5}, {2, 3, 5});
  check_16<uint16_t, int16_t>({4, 9}, {9, 1}, {4, 1});
  check_16<uint16_t, uint16_t>({1, 33}, {33, 4}, {1, 4});
  check_16<int16_t, int16_t>({0, 3}, {3, 2}, {0, 2});
}

template <class T>
class Float8Product : public ::testing::Test {};
using Float8s = ::testing::Types<Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2, Float8E5M2FNUZ>;
TYPED_TEST_SUITE(Float8Product, Float8s);

TYPED_TEST(Float8Product, QLinearMatMul) {
  int64_t m = 3, k = 5, n = 4;
  Tensor a = random_tensor<TypeParam>({m, k}, test_seed()), b = random_tensor<TypeParam>({k, n}, test_seed() + 1);
  OpTest test("QLinearMatMul", 21);
  test.input(a).template input<float>({}, {0.5f}).template input<TypeParam>({}, {TypeParam()});
  test.input(b).template input<float>({n}, {1, 2, 3, 400}).template input<TypeParam>({n}, std::vector<TypeParam>(4));
  test.template input<float>({}, {0.0005f}).template input<TypeParam>({}, {TypeParam()});
  Tensor y = test.run_tensor();
  ASSERT_EQ(y.type(), kTypeOf<TypeParam>);
  const float scales[] = {1, 2, 3, 400};
  for (int64_t i = 0; i < m * n; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < k; ++j) {
      sum += static_cast<double>(static_cast<float>(a.data<TypeParam>()[i / n * k + j])) *
             static_cast<float>(b.data<TypeParam>()[j * n + i % n]);
    }
    auto wanted = static_cast<float>(TypeParam(static_cast<float>(sum * 0.5 * scales[i % n] / 0.0005), true));
    EXPECT_NEAR(static_cast<float>(y.data<TypeParam>()[i]), wanted, std::abs(wanted) / 4) << i;
  }
}

}  // namespace
}  // namespace ortolan::test
