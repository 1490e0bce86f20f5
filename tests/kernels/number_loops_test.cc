// Tests of loops over integers and doubles against one-by-one references, on every instruction set.
#include "cpu/kernels/elementwise/number_loops.h"

#include <limits>

#include "isa_test.h"

namespace ortolan::cpu::kernels {
namespace {

class NumberLoopsTest : public IsaTest {
 protected:
  template <class T>
  std::vector<T> inputs(int64_t n, bool zeros = true) {
    using Limits = std::numeric_limits<T>;
    std::vector<T> x(n);
    for (T& v : x) {
      const int64_t kind = integer(0, 9);
      if constexpr (std::is_floating_point_v<T>) {
        v = kind == 0 ? Limits::quiet_NaN() : kind == 1 ? Limits::infinity() : static_cast<T>(integer(-50, 50)) / 4;
      } else {
        v = kind == 0 ? Limits::lowest() : kind == 1 ? Limits::max() : static_cast<T>(random_() >> integer(30, 63));
        if (kind == 2) v = static_cast<T>(-1);
      }
      if (!zeros && v == 0) v = 3;
    }
    return x;
  }

  template <class T>
  static T exact(NumberOp op, T a, T b) {
    using U = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;
    switch (op) {
      case NumberOp::kAdd:
        return static_cast<T>(U(a) + U(b));
      case NumberOp::kSub:
        return static_cast<T>(U(a) - U(b));
      case NumberOp::kMul:
        return static_cast<T>(U(a) * U(b));
      case NumberOp::kDiv:
        if constexpr (std::is_integral_v<T>) return b == static_cast<T>(-1) ? static_cast<T>(0 - U(a)) : T(a / b);
        return a / b;
      case NumberOp::kMin:
        return a != a || a < b ? a : b;
      default:
        return a != a || b < a ? a : b;
    }
  }
  template <class T>
  static bool holds(NumberOp op, T a, T b) {
    return op == NumberOp::kEqual ? a == b : op == NumberOp::kGreater ? a > b : a >= b;
  }
  template <class T>
  static bool same(T a, T b) {
    return a == b || (a != a && b != b);
  }

  template <class T, class Out, class Want>
  void expect_loops(NumberOp op, Want want) {
    const NumberLoops loops = number_loops(op, number_of<T>());
    for (int64_t n : {0, 1, 5, 16, 31, 64, 200}) {
      const std::vector<T> a = inputs<T>(n + 1), b = inputs<T>(n + 1, op != NumberOp::kDiv);
      std::vector<Out> y(n + 1, Out(77));
      loops.vectors(a.data(), b.data(), y.data(), n);
      for (int64_t i = 0; i < n; ++i) ASSERT_TRUE(same<Out>(y[i], want(a[i], b[i]))) << +a[i] << " " << +b[i];
      loops.scalar_a(a.data(), b.data(), y.data(), n);
      for (int64_t i = 0; i < n; ++i) ASSERT_TRUE(same<Out>(y[i], want(a[0], b[i]))) << +a[0] << " " << +b[i];
      loops.scalar_b(a.data(), b.data(), y.data(), n);
      for (int64_t i = 0; i < n; ++i) ASSERT_TRUE(same<Out>(y[i], want(a[i], b[0]))) << +a[i] << " " << +b[0];
      EXPECT_EQ(y[n], Out(77));
    }
  }

  template <class T>
  void expect_binary() {
    for (NumberOp op : {NumberOp::kAdd, NumberOp::kSub, NumberOp::kMul, NumberOp::kMin, NumberOp::kMax}) {
      expect_loops<T, T>(op, [&](T a, T b) { return exact<T>(op, a, b); });
    }
    expect_comparisons<T>();
  }
  template <class T>
  void expect_comparisons() {
    for (NumberOp op : {NumberOp::kEqual, NumberOp::kGreater, NumberOp::kGreaterOrEqual}) {
      expect_loops<T, uint8_t>(op, [&](T a, T b) { return uint8_t{holds<T>(op, a, b)}; });
    }
  }

  template <class T>
  void expect_reductions() {
    for (int64_t n : {1, 2, 7, 8, 31, 33, 64, 257, 600}) {
      const std::vector<T> x = inputs<T>(n);
      using U = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;
      U sum = 0, squares = 0, magnitudes = 0, product = 1;
      T largest = x[0], smallest = x[0];
      for (T v : x) {
        sum += U(v), squares += U(v) * U(v), magnitudes += v < 0 ? 0 - U(v) : U(v), product *= U(v);
        largest = exact<T>(NumberOp::kMax, largest, v), smallest = exact<T>(NumberOp::kMin, smallest, v);
        if (v != v) largest = smallest = v;
      }
      auto expect = [&](ReduceOp op, T want) {
        const T y = reduce_numbers(op, x.data(), n);
        if constexpr (std::is_integral_v<T>) {
          EXPECT_EQ(y, want);
        } else {
          EXPECT_TRUE(same(y, want) || std::fabs(y - want) <= 1e-13 * magnitudes + 1e-12 * std::fabs(want)) << y;
        }
      };
      expect(ReduceOp::kSum, static_cast<T>(sum)), expect(ReduceOp::kSumSquares, static_cast<T>(squares));
      expect(ReduceOp::kSumAbs, static_cast<T>(magnitudes)), expect(ReduceOp::kProduct, static_cast<T>(product));
      expect(ReduceOp::kMax, largest), expect(ReduceOp::kMin, smallest);
    }
  }

  template <class T>
  void expect_found() {
    for (int64_t n : {0, 1, 100, 127, 128, 300}) {
      std::vector<T> x(n, T(5));
      EXPECT_EQ(find_first(T(9), x.data(), n), n);
      for (int64_t at : {n - 1, n / 2, int64_t{0}}) {
        if (n == 0) continue;
        x[at] = T(9);
        EXPECT_EQ(find_first(T(9), x.data(), n), at);
      }
    }
  }

  template <class T>
  void expect_unary(NumberUnary op, T (*want)(T)) {
    for (int64_t n : {0, 1, 5, 16, 33, 100}) {
      std::vector<T> x = inputs<T>(n), y(n + 1, T(77));
      if (n > 5) x[2] = static_cast<T>(-2.5), x[3] = static_cast<T>(2.5);
      ASSERT_TRUE(unary(op, number_of<T>(), x.data(), y.data(), n, 0.25));
      for (int64_t i = 0; i < n; ++i) ASSERT_TRUE(same<T>(y[i], want(x[i]))) << +x[i] << " gave " << +y[i];
      EXPECT_EQ(y[n], T(77));
    }
  }
  template <class T>
  void expect_integer_unary() {
    using U = std::make_unsigned_t<T>;
    expect_unary<T>(NumberUnary::kAbs, [](T x) { return x < 0 ? static_cast<T>(U(0) - U(x)) : x; });
    expect_unary<T>(NumberUnary::kNeg, [](T x) { return static_cast<T>(U(0) - U(x)); });
    expect_unary<T>(NumberUnary::kSign, [](T x) { return static_cast<T>((x > 0) - (x < 0)); });
    expect_unary<T>(NumberUnary::kRelu, [](T x) { return x < 0 ? T{0} : x; });
    expect_unary<T>(NumberUnary::kBitwiseNot, [](T x) { return static_cast<T>(~x); });
  }
};

TEST_P(NumberLoopsTest, Binary) {
  expect_binary<uint8_t>(), expect_binary<int8_t>(), expect_binary<uint16_t>(), expect_binary<int16_t>();
  expect_binary<uint32_t>(), expect_binary<int32_t>(), expect_binary<uint64_t>(), expect_binary<int64_t>();
  expect_binary<double>();
  expect_comparisons<float>();
  expect_loops<double, double>(NumberOp::kDiv, [](double a, double b) { return a / b; });
  expect_loops<int32_t, int32_t>(NumberOp::kDiv, [](int32_t a, int32_t b) { return exact(NumberOp::kDiv, a, b); });
}

TEST_P(NumberLoopsTest, Unary) {
  expect_integer_unary<int8_t>(), expect_integer_unary<int16_t>();
  expect_integer_unary<int32_t>(), expect_integer_unary<int64_t>();
  expect_unary<double>(NumberUnary::kAbs, [](double x) { return std::fabs(x); });
  expect_unary<double>(NumberUnary::kNeg, [](double x) { return -x; });
  expect_unary<double>(NumberUnary::kSign, [](double x) { return x != x ? x : double((x > 0) - (x < 0)); });
  expect_unary<double>(NumberUnary::kRelu, [](double x) { return x < 0 ? 0 : x; });
  expect_unary<double>(NumberUnary::kLeakyRelu, [](double x) { return x < 0 ? x * 0.25 : x; });
  expect_unary<double>(NumberUnary::kSqrt, [](double x) { return std::sqrt(x); });
  expect_unary<double>(NumberUnary::kFloor, [](double x) { return std::floor(x); });
  expect_unary<double>(NumberUnary::kCeil, [](double x) { return std::ceil(x); });
  expect_unary<double>(NumberUnary::kRound, [](double x) { return std::nearbyint(x); });
  EXPECT_FALSE(unary(NumberUnary::kSqrt, Number::kS32, nullptr, nullptr, 0));
}

TEST_P(NumberLoopsTest, Reductions) {
  expect_reductions<uint8_t>(), expect_reductions<int8_t>(), expect_reductions<uint32_t>(),
      expect_reductions<int32_t>();
  expect_reductions<uint64_t>(), expect_reductions<int64_t>(), expect_reductions<double>();
}

TEST_P(NumberLoopsTest, FindFirst) {
  expect_found<uint8_t>(), expect_found<int16_t>(), expect_found<int32_t>(), expect_found<int64_t>();
  expect_found<float>(), expect_found<double>();
}

ORTOLAN_FOR_EACH_ISA(NumberLoopsTest);

}  // namespace
}  // namespace ortolan::cpu::kernels
