// Tests of products of whole numbers and of elimination's step against plain loops, on every instruction set.
#include "cpu/kernels/elementwise/number_matrices.h"

#include "base/threads/thread_pool.h"
#include "guarded.h"
#include "isa_test.h"

namespace ortolan::cpu::kernels {
namespace {

class NumberMatrices : public IsaTest {
 protected:
  template <class T>
  std::vector<T> words(int64_t n) {
    std::vector<T> values(n);
    for (T& value : values) value = static_cast<T>(uint64_t{random_()} << 32 | random_());
    return values;
  }

  template <class T>
  void expect_product(int64_t m, int64_t n, int64_t k, base::ThreadPool* pool) {
    for (bool trans_a : {false, true}) {
      for (bool trans_b : {false, true}) {
        const Guarded<T> a(words<T>(m * k), Edge::kEnd), b(words<T>(k * n), Edge::kEnd);
        const Guarded<T> c(std::vector<T>(m * n, 9), Edge::kEnd);
        const StridedMatrix<T> x{a.get(), trans_a ? 1 : k, trans_a ? m : 1},
            y{b.get(), trans_b ? 1 : n, trans_b ? k : 1};
        multiply_words<T>(pool, m, n, k, x, y, c.get());
        for (int64_t i = 0; i < m; ++i) {
          for (int64_t j = 0; j < n; ++j) {
            T sum = 0;
            for (int64_t p = 0; p < k; ++p) sum += x.data[i * x.row + p * x.column] * y.data[p * y.row + j * y.column];
            ASSERT_EQ(c.get()[i * n + j], sum) << m << "x" << k << "x" << n << " at " << i << ", " << j;
          }
        }
      }
    }
  }

  template <class T>
  void expect_subtraction(int64_t count, int64_t n) {
    const int64_t stride = n + 3;
    auto values = [&](int64_t size) {
      const std::vector<float> floats = normal(size);
      return std::vector<T>(floats.begin(), floats.end());
    };
    const std::vector<T> before = values((count - 1) * stride + n);
    const Guarded<T> x(values(n), Edge::kEnd), factors(values(count), Edge::kEnd), rows(before, Edge::kEnd);
    subtract_rows<T>(x.get(), factors.get(), rows.get(), stride, count, n);
    for (int64_t i = 0; i < static_cast<int64_t>(before.size()); ++i) {
      const int64_t column = i % stride;
      const double part = column < n ? double(factors.get()[i / stride]) * double(x.get()[column]) : 0;
      const double unit = std::is_same_v<T, float> ? 0x1p-23 : 0x1p-51;
      ASSERT_NEAR(rows.get()[i], before[i] - part, part == 0 ? 0 : unit * (std::fabs(before[i]) + std::fabs(part)));
    }
  }
};

TEST_P(NumberMatrices, ProductsWrapAround) {
  base::ThreadPool::Options options;
  options.threads = 3;
  base::ThreadPool pool(options);
  for (base::ThreadPool* threads : {static_cast<base::ThreadPool*>(nullptr), &pool}) {
    for (int64_t n : {1, 7, 16, 33, 64, 100}) {
      const int64_t m = integer(1, 9), k = integer(0, 300);
      expect_product<uint32_t>(m, n, k, threads);
      expect_product<uint64_t>(m, n, k, threads);
    }
    expect_product<uint32_t>(70, 130, 65, threads);
    expect_product<uint64_t>(1, 700, 128, threads);
    expect_product<uint32_t>(0, 4, 3, threads);
    expect_product<uint64_t>(4, 0, 3, threads);
  }
}

TEST_P(NumberMatrices, SubtractsRows) {
  for (int64_t n : {1, 5, 8, 16, 31, 64, 100}) {
    expect_subtraction<float>(integer(1, 6), n);
    expect_subtraction<double>(integer(1, 6), n);
  }
}

TEST_P(NumberMatrices, AddsRows) {
  for (int64_t n = 0; n < 70; ++n) {
    const int64_t count = integer(1, 4), x_stride = n + integer(0, 3), y_stride = n + integer(0, 3);
    const Guarded<float> x(normal((count - 1) * x_stride + n), Edge::kEnd);
    const std::vector<float> before = normal((count - 1) * y_stride + n);
    const Guarded<float> y(before, Edge::kEnd);
    add_rows(x.get(), x_stride, y.get(), y_stride, count, n);
    for (int64_t i = 0; i < static_cast<int64_t>(before.size()); ++i) {
      const int64_t row = i / y_stride, column = i % y_stride;
      ASSERT_EQ(y.get()[i], column < n ? before[i] + x.get()[row * x_stride + column] : before[i]) << n;
    }
  }
}

ORTOLAN_FOR_EACH_ISA(NumberMatrices);

}  // namespace
}  // namespace ortolan::cpu::kernels
