// Tests of fp64 products, on every instruction set.
#include <array>
#include <cmath>
#include <numeric>
#include <random>

#include "cpu/kernels/products/gemm_f32.h"
#include "isa_test.h"
#include "pools.h"

namespace ortolan::cpu::kernels {
namespace {

class GemmF64 : public IsaTest {};

TEST_P(GemmF64, AllTransposesAndScales) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  for (auto [m, n, k] : std::vector<std::array<int64_t, 3>>{{1, 1, 1},
                                                            {7, 65, 300},
                                                            {20, 64, 128},
                                                            {3, 5, 0},
                                                            {1, 100, 40},
                                                            {8, 24, 7},
                                                            {100, 50, 9},
                                                            {97, 1, 130},
                                                            {30, 97, 600},
                                                            {421, 30, 20},
                                                            {9, 1301, 10}}) {  // more than is packed at once of each
    for (int form = 0; form < 8; ++form) {
      const bool trans_a = form & 1, trans_b = form & 2;
      std::vector<double> a(m * k), b(k * n), c(m * n);
      for (auto* values : {&a, &b, &c}) {
        for (double& v : *values) v = normal(random);
      }
      const double beta = form & 4 ? 0.5 : 0;
      std::vector<double> before = c;
      if (beta == 0) c.assign(c.size(), NAN);
      gemm_f64(&two_threads(), m, n, k, 2, a.data(), trans_a ? m : k, trans_a, b.data(), trans_b ? k : n, trans_b, beta,
               c.data(), n);
      for (int64_t i = 0; i < m * n; ++i) {
        double want = beta * before[i];
        for (int64_t x = 0; x < k; ++x) {
          want += 2 * a[trans_a ? x * m + i / n : i / n * k + x] * b[trans_b ? i % n * k + x : x * n + i % n];
        }
        ASSERT_NEAR(c[i], want, 1e-12 * (k + 1));
      }
    }
  }
}

TEST_P(GemmF64, ResultsDoNotDependOnThreads) {
  const int64_t m = 403, n = 1210, k = 270;
  std::vector<double> a(m * k), b(k * n), c(m * n), d(m * n);
  std::iota(a.begin(), a.end(), 1);
  std::iota(b.begin(), b.end(), 7);
  for (auto* values : {&a, &b}) {
    for (double& v : *values) v = 1 / v;
  }
  for (bool trans_b : {false, true}) {
    gemm_f64(nullptr, m, n, k, 1, a.data(), k, false, b.data(), trans_b ? k : n, trans_b, 0, c.data(), n);
    gemm_f64(&two_threads(), m, n, k, 1, a.data(), k, false, b.data(), trans_b ? k : n, trans_b, 0, d.data(), n);
    EXPECT_EQ(c, d);
  }
}

ORTOLAN_FOR_EACH_ISA(GemmF64);

}  // namespace
}  // namespace ortolan::cpu::kernels
