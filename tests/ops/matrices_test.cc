// CDist and Inverse of com.microsoft.
#include <cmath>

#include "op_test.h"

namespace ortolan::test {
namespace {

OpTest node(const char* op) { return OpTest(op, 1, "com.microsoft"); }

template <class T>
void check_distances(int64_t m, int64_t n, int64_t k, bool root, double shift, double tolerance) {
  Tensor a = random_tensor<T>({m, k}, test_seed(), shift, shift + 1);
  Tensor b = random_tensor<T>({n, k}, test_seed() + 1, shift, shift + 1);
  auto x = doubles(a), y = doubles(b);
  std::vector<double> expected;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t p = 0; p < k; ++p) sum += (x[i * k + p] - y[j * k + p]) * (x[i * k + p] - y[j * k + p]);
      expected.push_back(root ? std::sqrt(sum) : sum);
    }
  }
  OpTest test = node("CDist");
  test.input(a).input(b).set("metric", root ? "euclidean" : "sqeuclidean");
  EXPECT_TRUE(near(test.run_tensor(), {m, n}, expected, tolerance)) << m << " " << n << " " << k << " " << root;
}

TEST(CDist, MeasuresRows) {
  for (bool root : {false, true}) {
    for (int64_t k : {1, 3, 8, 17, 100}) {
      check_distances<float>(5, 7, k, root, -0.5, 2e-5);
      check_distances<float>(3, 4, k, root, 50, 2e-4);  // far from 0, where a plain product loses digits
      check_distances<double>(5, 7, k, root, -0.5, 1e-12);
    }
    check_distances<float>(1, 1, 9, root, 0, 1e-5);
  }
}

TEST(CDist, TakesOddInput) {
  auto test = [](Shape a, Shape b) {
    OpTest made = node("CDist");
    made.input(Tensor(ElementType::kFloat, std::move(a))).input(Tensor(ElementType::kFloat, std::move(b)));
    return made.set("metric", "euclidean");
  };
  EXPECT_EQ(test({0, 3}, {2, 3}).run_tensor().shape(), (Shape{0, 2}));
  EXPECT_TRUE(near(test({2, 0}, {1, 0}).run_tensor(), {2, 1}, {0, 0}));
  EXPECT_NE(test({0, 3}, {0, 4}).error().find("different lengths"), std::string::npos);
  EXPECT_NE(test({3}, {0, 3}).error().find("input 0 has rank 1 (shape [3]), but it must be 2"), std::string::npos);
  OpTest metric = node("CDist");
  metric.input<float>({1, 1}, {1}).input<float>({1, 1}, {1}).set("metric", "cosine");
  EXPECT_NE(metric.error().find("metric is 'cosine'"), std::string::npos);
  Tensor same = random_tensor<float>({2, 40}, 3, 100, 101);
  Tensor distances = node("CDist").input(same).input(same).set("metric", "euclidean").run_tensor();
  EXPECT_EQ(distances.data<float>()[0], 0);
  EXPECT_EQ(distances.data<float>()[3], 0);
}

template <class T>
void check_inverse(Shape shape, double tolerance) {
  Tensor x = random_tensor<T>(shape, test_seed());
  int64_t n = shape[shape.rank() - 1];
  auto values = doubles(x);
  auto inverse = doubles(node("Inverse").input(x).run_tensor());
  double most = 1;
  for (double value : inverse) most = std::max(most, std::fabs(value));
  for (int64_t i = 0; i < x.element_count(); ++i) {
    int64_t row = i / n % n, column = i % n, first = i / (n * n) * n * n;
    double sum = 0;
    for (int64_t p = 0; p < n; ++p) sum += values[first + row * n + p] * inverse[first + p * n + column];
    EXPECT_NEAR(sum, row == column, tolerance * most) << shape[0] << " " << i;
  }
}

TEST(Inverse, TimesTheMatrixIsOne) {
  for (Shape shape : {Shape{1, 1}, Shape{4, 4}, Shape{2, 3, 3, 3}, Shape{2, 7, 7}, Shape{3, 8, 8}, Shape{2, 16, 16},
                      Shape{2, 21, 21}, Shape{33, 33}}) {
    check_inverse<double>(shape, 1e-11);
    check_inverse<float>(shape, 1e-4);
  }
  check_inverse<base::Half>({2, 3, 3}, 4e-3);
  EXPECT_TRUE(near(node("Inverse").input<float>({2, 2}, {0, 2, 1, 0}).run_tensor(), {2, 2}, {0, 1, 0.5, 0}));
}

TEST(Inverse, TakesOddInput) {
  EXPECT_EQ(node("Inverse").input<float>({0, 2, 2}, {}).run_tensor().shape(), (Shape{0, 2, 2}));
  EXPECT_EQ(node("Inverse").input<float>({2, 0, 0}, {}).run_tensor().shape(), (Shape{2, 0, 0}));
  EXPECT_NE(node("Inverse").input<float>({1, 2}, {1, 2}).error().find("they must be square"), std::string::npos);
  EXPECT_NE(node("Inverse")
                .input<float>({2}, {1, 2})
                .error()
                .find("input 0 has rank 1 (shape [2]), but it must be 2 or more"),
            std::string::npos);
  auto values = doubles(node("Inverse").input<float>({2, 2}, {1, 2, 2, 4}).run_tensor());
  EXPECT_FALSE(std::isfinite(values[0]));
}

}  // namespace
}  // namespace ortolan::test
