// Tests of casts between all number types against one-by-one references, on every instruction set.
#include "cpu/kernels/elementwise/cast.h"

#include <bit>
#include <limits>

#include "isa_test.h"

namespace ortolan::cpu::kernels {
namespace {

class Cast : public IsaTest {
 protected:
  /** Edges of all types, then numbers of all magnitudes; `bool` gives bytes, of which some are neither 0 nor 1. */
  template <class T>
  std::vector<T> inputs(size_t n) {
    std::vector<T> x;
    using Limits = std::numeric_limits<T>;
    for (T v : {T(0), T(1), T(2), Limits::lowest(), Limits::max()}) x.push_back(v);
    if constexpr (std::is_floating_point_v<T>) {
      for (double v :
           {-0.0,   -1.0,   0.5,     -0.5,   1.5, 127.9, 128.0, 255.9, 256.0,    -129.0,  65536.5, 0x1p31, -0x1p31,
            0x1p32, 0x1p63, -0x1p63, 0x1p64, 3e9, -3e9,  1e19,  -1e19, 65519.99, 65520.0, 1e-8,    1e300,  1e-300}) {
        x.push_back(static_cast<T>(v));
      }
      for (T v : {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(), Limits::denorm_min()}) x.push_back(v);
    }
    while (x.size() < n) {
      const uint64_t bits = random_() >> integer(0, 63);
      if constexpr (std::is_floating_point_v<T>) {
        x.push_back(static_cast<T>(static_cast<double>(static_cast<int64_t>(bits)) / integer(1, 100)));
      } else {
        x.push_back(static_cast<T>(bits));
      }
    }
    x.resize(n);
    return x;
  }

  template <class From, class To>
  static To reference(From x) {
    if constexpr (std::is_same_v<To, bool>) {
      return x != 0;
    } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
      const bool in64 = x >= From(-0x1p63) && x < From(0x1p63);
      if (std::is_same_v<To, int32_t> && !(x >= From(-0x1p31) && x < From(0x1p31))) return static_cast<To>(INT32_MIN);
      if (std::is_same_v<To, uint64_t> && x >= From(0x1p63) && x < From(0x1p64)) return static_cast<To>(x);
      return static_cast<To>(in64 ? static_cast<int64_t>(x) : INT64_MIN);
    } else {
      return static_cast<To>(x);
    }
  }

  template <class From, class To>
  void expect_cast(size_t n) {
    const std::vector<From> x = inputs<From>(n);
    std::vector<To> y(n + 1, To(77));
    cast(x.data(), static_cast<int64_t>(n), y.data());
    for (size_t i = 0; i < n; ++i) {
      const To want = reference<From, To>(x[i]);
      ASSERT_TRUE(y[i] == want || (y[i] != y[i] && want != want)) << +x[i] << " gave " << +y[i] << ", not " << +want;
    }
    EXPECT_EQ(y[n], To(77));
  }

  template <class From>
  void expect_casts(size_t n) {
    expect_cast<From, uint8_t>(n), expect_cast<From, int8_t>(n);
    expect_cast<From, uint16_t>(n), expect_cast<From, int16_t>(n);
    expect_cast<From, uint32_t>(n), expect_cast<From, int32_t>(n);
    expect_cast<From, uint64_t>(n), expect_cast<From, int64_t>(n);
    expect_cast<From, float>(n), expect_cast<From, double>(n);
    const std::vector<From> x = inputs<From>(n);
    std::vector<uint8_t> flags(n + 1, 77);
    cast(number_of<From>(), x.data(), static_cast<int64_t>(n), Number::kBool, flags.data());
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(flags[i], x[i] != 0) << +x[i];
    EXPECT_EQ(flags[n], 77);
  }
};

TEST_P(Cast, BetweenAllTypes) {
  for (size_t n : {0, 1, 7, 40, 63, 255, 256, 257, 1500}) {
    expect_casts<uint8_t>(n), expect_casts<int8_t>(n), expect_casts<uint16_t>(n), expect_casts<int16_t>(n);
    expect_casts<uint32_t>(n), expect_casts<int32_t>(n), expect_casts<uint64_t>(n), expect_casts<int64_t>(n);
    expect_casts<float>(n), expect_casts<double>(n);
  }
}

TEST_P(Cast, BoolCountsAsOne) {
  const uint8_t x[] = {0, 1, 2, 255};
  double y[4];
  uint8_t flags[4];
  cast(Number::kBool, x, 4, Number::kF64, y);
  cast(Number::kBool, x, 4, Number::kBool, flags);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(y[i], x[i] != 0);
    EXPECT_EQ(flags[i], x[i] != 0);
  }
}

TEST_P(Cast, RoundToOdd) {
  std::vector<double> x = inputs<double>(3000);
  for (size_t i = 100; i < x.size(); i += 3) x[i] = std::ldexp(x[i], static_cast<int>(integer(-250, 60)));
  std::vector<float> y(x.size());
  round_to_odd(x.data(), static_cast<int64_t>(x.size()), y.data());
  for (size_t i = 0; i < x.size(); ++i) {
    const auto nearest = static_cast<float>(x[i]);
    if (std::isnan(x[i])) {
      EXPECT_TRUE(std::isnan(y[i]));
    } else if (std::isinf(nearest) || nearest == x[i]) {
      EXPECT_EQ(y[i], nearest);
    } else {
      EXPECT_EQ(std::bit_cast<uint32_t>(y[i]) & 1, 1u) << x[i];
      EXPECT_TRUE(y[i] == nearest || y[i] == std::nextafter(nearest, static_cast<float>(x[i] > nearest ? 4e38 : -4e38)))
          << x[i];
    }
  }
}

TEST_P(Cast, Classification) {
  std::vector<float> x = inputs<float>(200);
  x[3] = -std::numeric_limits<float>::quiet_NaN();
  for (int wanted = 0; wanted < 8; ++wanted) {
    const FloatClass which{(wanted & 4) != 0, (wanted & 2) != 0, (wanted & 1) != 0};
    std::vector<uint8_t> y(x.size());
    std::vector<uint32_t> bits(x.size());
    for (size_t i = 0; i < x.size(); ++i) bits[i] = std::bit_cast<uint32_t>(x[i]);
    classify<uint32_t>(bits.data(), static_cast<int64_t>(x.size()), 0x7f800000u, which, y.data());
    for (size_t i = 0; i < x.size(); ++i) {
      const bool infinite = std::isinf(x[i]) && (x[i] > 0 ? which.positive_infinity : which.negative_infinity);
      EXPECT_EQ(y[i], which.nan ? std::isnan(x[i]) : infinite) << x[i] << " " << wanted;
    }
  }
}

ORTOLAN_FOR_EACH_ISA(Cast);

}  // namespace
}  // namespace ortolan::cpu::kernels
