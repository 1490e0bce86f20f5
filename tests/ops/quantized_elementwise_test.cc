// Elementwise operators on quantised bytes against real arithmetic.
#include <cmath>
#include <limits>

#include "byte_reference.h"
#include "nd_index.h"

namespace ortolan::test {
namespace {

OpTest node(const char* op) { return OpTest(op, 1, "com.microsoft"); }

/** The number in `shape`, broadcast, of a position of the result. */
int64_t broadcast_at(const Shape& shape, const Index& index) {
  Index own(index.end() - static_cast<int64_t>(shape.rank()), index.end());
  for (size_t i = 0; i < own.size(); ++i) own[i] = shape[i] == 1 ? 0 : own[i];
  return flat(shape, own);
}

template <class T>
class QLinearBinary : public OnBytes<T> {
 protected:
  void check(const char* op, const Shape& a_shape, const Shape& b_shape, const Shape& y_shape) {
    RandomBytes<T> a(a_shape, test_seed()), b(b_shape, test_seed() + 1, 0.05f, 7);
    float scale = 0.07f;
    OpTest test = node(op);
    a.add_to(test);
    b.add_to(test);
    test.template input<float>({}, {scale}).template input<T>({}, {T(11)});
    std::vector<double> expected;
    for_each_index(y_shape, [&](const Index& index) {
      double left = a.value(broadcast_at(a_shape, index)), right = b.value(broadcast_at(b_shape, index));
      expected.push_back(op == std::string("QLinearAdd") ? left + right : left * right);
    });
    EXPECT_TRUE((codes_near<T>(test.run_tensor(), y_shape, expected, scale, 11))) << join(op, a_shape, b_shape);
  }
};
TYPED_TEST_SUITE(QLinearBinary, ByteTypes);

TYPED_TEST(QLinearBinary, Broadcasts) {
  for (const char* op : {"QLinearAdd", "QLinearMul"}) {
    this->check(op, {}, {}, {});
    this->check(op, {70}, {70}, {70});
    this->check(op, {2, 67}, {1}, {2, 67});
    this->check(op, {1}, {129}, {129});
    this->check(op, {5, 3}, {3}, {5, 3});
    this->check(op, {4, 1, 33}, {4, 7, 1}, {4, 7, 33});
    this->check(op, {0, 3}, {3}, {0, 3});
  }
}

TEST(QLinearAdd, RoundsHalvesToEvenAndSaturates) {
  auto add = [](std::vector<uint8_t> a, std::vector<uint8_t> b) {
    Shape shape{static_cast<int64_t>(a.size())};
    OpTest test = node("QLinearAdd");
    test.input<uint8_t>(shape, a).input<float>({}, {0.5f}).no_input().input<uint8_t>(shape, b).input<float>({}, {0.5f});
    return test.no_input().input<float>({}, {1}).run_tensor();
  };
  EXPECT_TRUE(equal<uint8_t>(add({1, 3, 5, 255}, {0, 0, 0, 255}), {4}, {0, 2, 2, 255}));
}

TEST(QLinearAdd, Errors) {
  OpTest missing = node("QLinearAdd");
  missing.input<uint8_t>({1}, {1}).input<float>({}, {1}).no_input().no_input().input<float>({}, {1});
  EXPECT_NE(missing.error().find("input 3"), std::string::npos);
  OpTest many = node("QLinearMul");
  many.input<uint8_t>({1}, {1}).input<float>({2}, {1, 1}).no_input().input<uint8_t>({1}, {1}).input<float>({}, {1});
  many.no_input().input<float>({}, {1});
  EXPECT_NE(many.error().find("the scale of A"), std::string::npos);
}

/** Division by a scale of zero, NaN and infinity give some byte. */
TEST(QLinearAdd, HostileScales) {
  for (float scale : {0.0f, -1.0f, NAN, INFINITY, 1e-40f}) {
    for (const char* op : {"QLinearAdd", "QLinearMul"}) {
      OpTest test = node(op);
      test.input<int8_t>({3}, {-128, 0, 127}).input<float>({}, {1}).input<int8_t>({}, {-128});
      test.input<int8_t>({3}, {127, 0, 127}).input<float>({}, {scale}).no_input().input<float>({}, {scale});
      EXPECT_EQ(test.run_tensor().shape(), Shape{3});
    }
  }
}

TEST(MulInteger, Products) {
  Tensor y = node("MulInteger")
                 .input<int8_t>({2, 1}, {-128, 5})
                 .input<int8_t>({}, {1})
                 .input<int8_t>({3}, {127, -128, 2})
                 .input<int8_t>({}, {-1})
                 .run_tensor();
  EXPECT_TRUE(equal<int32_t>(y, {2, 3}, {-129 * 128, 129 * 127, -129 * 3, 4 * 128, -4 * 127, 4 * 3}));
}

template <class T>
class ByteFunction : public OnBytes<T> {
 protected:
  void check(OpTest test, const Shape& shape, double (*function)(double)) {
    RandomBytes<T> x(shape, test_seed());
    float scale = 0.004f;
    x.add_to(test);
    test.template input<float>({}, {scale}).template input<T>({}, {T(2)});
    std::vector<double> expected;
    for (int64_t i = 0; i < x.count(); ++i) expected.push_back(function(x.value(i)));
    EXPECT_TRUE((codes_near<T>(test.run_tensor(), shape, expected, scale, 2)));
  }
};
TYPED_TEST_SUITE(ByteFunction, ByteTypes);

TYPED_TEST(ByteFunction, EveryShape) {
  for (const Shape& shape : {Shape{}, Shape{0, 2}, Shape{300}, Shape{2, 65, 3}}) {
    this->check(node("QLinearSigmoid"), shape, [](double x) { return 1 / (1 + std::exp(-x)); });
    this->check(node("QLinearLeakyRelu").set("alpha", 0.25f), shape, [](double x) { return x < 0 ? x / 4 : x; });
  }
}

template <class T>
class QLinearSoftmax : public OnBytes<T> {
 protected:
  /** [outer][length][inner]. */
  void check(const Shape& shape, int64_t axis, int64_t opset, int64_t outer, int64_t length, int64_t inner) {
    RandomBytes<T> x(shape, test_seed());
    float scale = 1.0f / 256;
    int zero = std::numeric_limits<T>::min();
    OpTest test = node("QLinearSoftmax").set("axis", axis).set("opset", opset);
    x.add_to(test);
    test.template input<float>({}, {scale}).template input<T>({}, {static_cast<T>(zero)});
    std::vector<double> expected(static_cast<size_t>(x.count()));
    for (int64_t row = 0; row < outer * inner; ++row) {
      int64_t first = row / inner * length * inner + row % inner;
      double sum = 0;
      for (int64_t i = 0; i < length; ++i) sum += std::exp(x.value(first + i * inner));
      for (int64_t i = 0; i < length; ++i) expected[first + i * inner] = std::exp(x.value(first + i * inner)) / sum;
    }
    EXPECT_TRUE((codes_near<T>(test.run_tensor(), shape, expected, scale, zero))) << join(shape, " axis ", axis);
  }
};
TYPED_TEST_SUITE(QLinearSoftmax, ByteTypes);

TYPED_TEST(QLinearSoftmax, AxesOfBothRules) {
  this->check({5}, 0, 13, 1, 5, 1);
  this->check({1, 1}, -1, 13, 1, 1, 1);
  this->check({2, 3, 4}, -2, 13, 2, 3, 4);
  this->check({2, 3, 4}, 1, 12, 2, 12, 1);
  this->check({3, 900}, 1, 13, 3, 900, 1);
  this->check({2, 0, 4}, -1, 13, 0, 4, 1);
}

TEST(QLinearSoftmax, Errors) {
  OpTest test = node("QLinearSoftmax").set("axis", 2).set("opset", 13);
  test.input<uint8_t>({1, 2}, {1, 2}).input<float>({}, {1}).no_input().input<float>({}, {1});
  EXPECT_NE(test.error().find("axis 2"), std::string::npos);
}

template <class T>
class Recoding : public OnBytes<T> {};
TYPED_TEST_SUITE(Recoding, ByteTypes);

TYPED_TEST(Recoding, QLinearWhere) {
  auto check = [](Shape condition_shape, Shape x_shape, Shape y_shape, Shape shape) {
    RandomBytes<TypeParam> x(x_shape, test_seed()), y(y_shape, test_seed() + 1, 0.05f, 9);
    Tensor condition(ElementType::kBool, condition_shape);
    for (int64_t i = 0; i < condition.element_count(); ++i) condition.mutable_data<bool>()[i] = i % 3 != 0;
    OpTest test = node("QLinearWhere");
    test.input(condition);
    x.add_to(test);
    y.add_to(test);
    test.template input<float>({}, {0.05f}).template input<TypeParam>({}, {9});
    std::vector<double> expected;
    for_each_index(shape, [&](const Index& index) {
      bool chosen = condition.data<bool>()[broadcast_at(condition_shape, index)];
      expected.push_back(chosen ? x.value(broadcast_at(x_shape, index)) : y.value(broadcast_at(y_shape, index)));
    });
    EXPECT_TRUE((codes_near<TypeParam>(test.run_tensor(), shape, expected, 0.05f, 9)));
  };
  check({}, {}, {}, {});
  check({3000}, {3000}, {1}, {3000});
  check({2, 1, 3}, {4, 1}, {1}, {2, 4, 3});
  check({0}, {1}, {0}, {0});
}

TYPED_TEST(Recoding, QLinearConcat) {
  RandomBytes<TypeParam> a({2, 3, 2}, test_seed()), b({2, 1, 2}, test_seed() + 1, 0.05f, 9);
  OpTest test = node("QLinearConcat").set("axis", -2);
  test.template input<float>({}, {0.05f}).template input<TypeParam>({}, {9});
  a.add_to(test);
  b.add_to(test);
  std::vector<double> expected;
  for (int64_t i = 0; i < 2; ++i) {
    for (int64_t j = 0; j < 6; ++j) expected.push_back(a.value(i * 6 + j));
    for (int64_t j = 0; j < 2; ++j) expected.push_back(b.value(i * 2 + j));
  }
  EXPECT_TRUE((codes_near<TypeParam>(test.run_tensor(), {2, 4, 2}, expected, 0.05f, 9)));
}

TEST(QLinearConcat, Errors) {
  OpTest test = node("QLinearConcat").set("axis", 0);
  test.input<float>({}, {1}).input<uint8_t>({}, {0}).input<uint8_t>({1, 2}, {1, 2}).input<float>({}, {1});
  test.input<uint8_t>({}, {0});
  EXPECT_NE(OpTest(test).input<uint8_t>({1, 2}, {1, 2}).error().find("inputs; it needs 2 and three more"),
            std::string::npos);
  test.input<uint8_t>({1, 3}, {1, 2, 3}).input<float>({}, {1}).input<uint8_t>({}, {0});
  EXPECT_NE(test.error().find("only dimension 0 may differ"), std::string::npos);
}

}  // namespace
}  // namespace ortolan::test
