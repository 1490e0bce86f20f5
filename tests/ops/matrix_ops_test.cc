// Trilu, EyeLike and Det.
#include <cmath>

#include "op_test.h"

namespace ortolan::test {
namespace {

template <class T>
void check_trilu(Shape shape, int upper, int64_t k) {
  Tensor x = random_tensor<T>(shape, test_seed(), 1, 9);
  Tensor y = OpTest("Trilu", 14).set("upper", upper).input(x).input(tensor_of<int64_t>({}, {k})).run_tensor();
  auto expected = doubles(x);
  int64_t rows = shape[shape.rank() - 2], columns = shape[shape.rank() - 1];
  for (size_t i = 0; i < expected.size(); ++i) {
    int64_t column = static_cast<int64_t>(i) % columns, row = static_cast<int64_t>(i) / columns % rows;
    bool kept = upper ? column - row >= k : column - row <= k;
    if (!kept) expected[i] = 0;
  }
  EXPECT_TRUE(near(y, shape, expected, 0)) << "upper " << upper << " k " << k;
}

TEST(Trilu, KeepsATriangle) {
  for (int upper : {0, 1}) {
    for (int64_t k : {0, 1, -1, 3, -4, 100, -100}) {
      check_trilu<float>({4, 5}, upper, k);
      check_trilu<int8_t>({2, 3, 5, 3}, upper, k);
      check_trilu<Half>({3, 0}, upper, k);
    }
    for (int64_t k : {INT64_MAX, INT64_MIN}) check_trilu<double>({3, 3}, upper, k);
  }
  Tensor words = tensor_of<std::string>({2, 2}, {"a", "b", "c", "d"});
  EXPECT_TRUE(equal<std::string>(OpTest("Trilu", 14).input(words).run_tensor(), {2, 2}, {"a", "b", "", "d"}));
  EXPECT_NE(OpTest("Trilu", 14)
                .input<float>({3}, {1, 2, 3})
                .error()
                .find("input 0 has rank 1 (shape [3]), but it must be 2 or more"),
            std::string::npos);
}

TEST(EyeLike, PutsOnesOnADiagonal) {
  Tensor x = random_tensor<float>({2, 3}, 1);
  EXPECT_TRUE(equal<float>(OpTest("EyeLike", 9).input(x).run_tensor(), {2, 3}, {1, 0, 0, 0, 1, 0}));
  Tensor up = OpTest("EyeLike", 9).set("k", 1).set("dtype", 7).input(x).run_tensor();
  EXPECT_TRUE(equal<int64_t>(up, {2, 3}, {0, 1, 0, 0, 0, 1}));
  Tensor down = OpTest("EyeLike", 22).set("k", -1).set("dtype", 9).input(x).run_tensor();
  EXPECT_TRUE(equal<bool>(down, {2, 3}, {false, false, false, true, false, false}));
  Tensor none = OpTest("EyeLike", 9).set("k", int64_t{INT64_MIN}).input(x).run_tensor();
  EXPECT_TRUE(equal<float>(none, {2, 3}, {0, 0, 0, 0, 0, 0}));
  EXPECT_NE(
      OpTest("EyeLike", 9).input<float>({2}, {1, 2}).error().find("input 0 has rank 1 (shape [2]), but it must be 2"),
      std::string::npos);
}

/** By expansion along the first row. */
double expansion(const std::vector<double>& a, size_t n) {
  if (n == 0) return 1;
  double sum = 0;
  for (size_t skipped = 0; skipped < n; ++skipped) {
    std::vector<double> minor;
    for (size_t i = n; i < n * n; ++i) {
      if (i % n != skipped) minor.push_back(a[i]);
    }
    sum += (skipped % 2 ? -1 : 1) * a[skipped] * expansion(minor, n - 1);
  }
  return sum;
}

/** By elimination in long double. */
double determinant(std::vector<long double> a, size_t n) {
  long double result = 1;
  for (size_t c = 0; c < n; ++c) {
    size_t pivot = c;
    for (size_t r = c; r < n; ++r) pivot = std::fabs(a[r * n + c]) > std::fabs(a[pivot * n + c]) ? r : pivot;
    for (size_t i = 0; i < n && pivot != c; ++i) std::swap(a[pivot * n + i], a[c * n + i]);
    result *= pivot == c ? a[c * n + c] : -a[c * n + c];
    for (size_t r = c + 1; r < n; ++r) {
      const long double factor = a[r * n + c] / a[c * n + c];
      for (size_t i = c; i < n; ++i) a[r * n + i] -= factor * a[c * n + i];
    }
  }
  return static_cast<double>(result);
}

TEST(Det, OfEachSize) {
  for (int64_t n : {1, 2, 5, 8, 15, 16, 17, 24, 33, 64, 70}) {
    Tensor x = random_tensor<double>({2, n, n}, test_seed() + static_cast<uint32_t>(n));
    auto values = doubles(x);
    const auto size = static_cast<long>(n * n);
    const double first = determinant({values.begin(), values.begin() + size}, static_cast<size_t>(n));
    const double second = determinant({values.begin() + size, values.end()}, static_cast<size_t>(n));
    auto found = doubles(OpTest("Det", 11).input(x).run_tensor());
    EXPECT_NEAR(found[0] / first, 1, 1e-11) << n;
    EXPECT_NEAR(found[1] / second, 1, 1e-11) << n;
  }
}

TEST(Det, AgreesWithExpansion) {
  for (size_t n : {0, 1, 2, 3, 5}) {
    auto size = static_cast<int64_t>(n);
    Tensor x = random_tensor<double>({3, size, size}, test_seed());
    auto values = doubles(x);
    std::vector<double> expected;
    for (size_t i = 0; i < 3; ++i) {
      expected.push_back(expansion(
          {values.begin() + static_cast<int64_t>(i * n * n), values.begin() + static_cast<int64_t>((i + 1) * n * n)},
          n));
    }
    EXPECT_TRUE(near(OpTest("Det", 11).input(x).run_tensor(), {3}, expected, 1e-12));
  }
  EXPECT_TRUE(near(OpTest("Det", 22).input<float>({2, 2}, {1, 2, 2, 4}).run_tensor(), {}, {0}));
  EXPECT_NE(OpTest("Det", 11).input<float>({1, 2}, {1, 2}).error().find("must be square"), std::string::npos);
}

}  // namespace
}  // namespace ortolan::test
