// Tests of products by OpenBLAS against double references, and of this library's against OpenBLAS's.
#include "cpu/kernels/products/gemm_blas.h"

#include <cblas.h>

#include <algorithm>
#include <array>

#include "cpu/kernels/products/gemm_f32.h"
#include "cpu/kernels/vectors/lengths.h"
#include "isa_test.h"
#include "pools.h"

namespace ortolan::cpu::kernels {
namespace {

const GemmF32Kernels& blas = kGemmF32OfBlas;

// Blocks of every way in which operands lie, with every way to finish sums.
class BlasBlock : public testing::Test {
 protected:
  static constexpr int64_t kStep = 80;  // floats from one row of C or of a residual to the next

  std::vector<float> normal(int64_t n) {
    std::normal_distribution<float> distribution;
    std::vector<float> values(n);
    for (float& v : values) v = distribution(random_);
    return values;
  }

  GemmBlock block(int64_t rows, int64_t columns, int64_t k, bool finishes) {
    GemmBlock g;
    g.rows = rows, g.columns = columns, g.k = k, g.ldc = kStep;
    a_ = normal(rows * k), b_ = normal(k * kWidth), c_ = old_ = normal(rows * kStep);
    bias_ = normal(std::max(rows, columns)), residual_ = normal(rows * kStep);
    g.a = a_.data(), g.lda = k, g.b = b_.data(), g.b_step = kWidth, g.c = c_.data();
    if (!finishes) return g;
    g.alpha = 0.5f, g.c_scale = 2, g.shift = 0.25f;
    g.column_bias = g.row_bias = bias_.data();
    g.residual = residual_.data(), g.residual_stride = kStep;
    g.clamp = true, g.low = -1, g.high = 1.5f;
    return g;
  }

  // A, row-major in g, in blocks of tile_rows rows.
  std::vector<float> packed(const GemmBlock& g) const {
    const int64_t tile = blas.tile_rows;
    std::vector<float> to(round_up(g.rows, tile) * g.k);
    for (int64_t i = 0; i < g.rows; ++i) {
      for (int64_t k = 0; k < g.k; ++k) to[i / tile * tile * g.k + k * tile + i % tile] = a_[i * g.k + k];
    }
    return to;
  }

  void expect_product(const GemmBlock& g) const {
    for (int64_t i = 0; i < g.rows; ++i) {
      for (int64_t j = 0; j < kStep; ++j) {
        if (j >= g.columns) {
          ASSERT_EQ(c_[i * kStep + j], old_[i * kStep + j]) << "beside the block";
          continue;
        }
        double sum = 0;
        for (int64_t k = 0; k < g.k; ++k) sum += double{a_[i * g.k + k]} * b_[k * kWidth + j];
        double want = g.alpha * sum + g.shift;
        if (g.c_scale != 0) want += g.c_scale * double{old_[i * kStep + j]};
        if (g.column_bias != nullptr) want += bias_[j];
        if (g.row_bias != nullptr) want += bias_[i];
        if (g.residual != nullptr) want += residual_[i * kStep + j];
        if (g.clamp) want = std::clamp(want, double{g.low}, double{g.high});
        ASSERT_NEAR(c_[i * kStep + j], want, 1e-6 * (20 + static_cast<double>(g.k))) << i << " " << j;
      }
    }
  }

  // Calls multiply(g) for blocks of many sizes, and looks at what it makes of them.
  template <class Multiply>
  void check(int64_t most_columns, Multiply multiply) {
    for (int64_t rows : {1, 7, 8, 9, 40}) {
      for (int64_t columns : {int64_t{1}, int64_t{5}, int64_t{63}, int64_t{64}}) {
        for (int64_t k : {0, 1, 3, 64, 200}) {
          if (columns > most_columns) continue;
          for (bool finishes : {false, true}) {
            GemmBlock g = block(rows, columns, k, finishes);
            multiply(g);
            SCOPED_TRACE(testing::Message() << rows << "x" << columns << "x" << k << " " << finishes);
            expect_product(g);
          }
        }
      }
    }
  }

  static constexpr int64_t kWidth = 64;
  std::vector<float> a_, b_, c_, old_, bias_, residual_;
  std::mt19937 random_{7};
};

TEST_F(BlasBlock, OfRows) {
  check(kWidth, [](const GemmBlock& g) { blas.block(16, g); });
}

TEST_F(BlasBlock, OfPackedRows) {
  check(kWidth, [&](GemmBlock g) {
    const std::vector<float> a = packed(g);
    g.a = a.data();
    blas.block_packed_a(16, g);
  });
}

TEST_F(BlasBlock, OfOneColumn) {
  check(1, [&](GemmBlock g) {
    const std::vector<float> a = packed(g);
    g.a = a.data();
    blas.thin_block_packed_a(g);
  });
}

TEST_F(BlasBlock, OfListedRows) {
  check(kWidth, [&](GemmBlock g) {
    const std::vector<float> a = packed(g);
    std::vector<int64_t> rows;
    for (int64_t k = 0; k < g.k; ++k) rows.push_back(k * kWidth);
    g.a = a.data(), g.b_rows = rows.data(), g.b_step = 0;
    blas.block_of_rows(16, g);
  });
}

// OpenBLAS refuses rows that overlap, and says so on the console.
TEST_F(BlasBlock, OfRowsThatOverlap) {
  GemmBlock g = block(9, 20, 12, false);
  std::vector<float> line = normal(9 + 12);
  for (int64_t i = 0; i < 9; ++i) std::copy_n(line.data() + i, 12, a_.data() + i * 12);
  g.a = line.data(), g.lda = 1;
  blas.block(16, g);
  expect_product(g);
}

TEST_F(BlasBlock, OfFp64InEveryOrder) {
  const int64_t rows = 13, columns = 21, depth = 34;
  std::normal_distribution<double> distribution;
  std::vector<double> a(3 * rows * depth), b(depth * 64), old(rows * 32);
  for (auto* values : {&a, &b, &old}) {
    for (double& v : *values) v = distribution(random_);
  }
  const int64_t strides[][2] = {{depth, 1}, {1, rows}, {3 * depth, 3}};
  for (const auto& [a_row, a_column] : strides) {
    for (double beta : {0.0, 0.5}) {
      std::vector<double> c = old;
      kGemmF64OfBlas.multiply({rows, columns, depth, a.data(), a_row, a_column, b.data(), 64, 1.5, beta, c.data(), 32});
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < columns; ++j) {
          long double sum = 0;
          for (int64_t k = 0; k < depth; ++k) sum += (long double){a[i * a_row + k * a_column]} * b[k * 64 + j];
          const long double want = 1.5L * sum + (beta == 0 ? 0 : beta * old[i * 32 + j]);
          ASSERT_NEAR(c[i * 32 + j], static_cast<double>(want), 1e-13) << a_row << " " << beta;
        }
      }
    }
  }
}

// This library's products on every instruction set beside OpenBLAS's.
class BesideBlas : public IsaTest {};

TEST_P(BesideBlas, LargeProducts) {
  base::ThreadPool* pool = nullptr;
  for (auto [m, n, k] : {std::array<int64_t, 3>{200, 300, 500}, {33, 768, 768}, {512, 1, 300}, {1, 512, 300}}) {
    const std::vector<float> a = normal(m * k), b = normal(k * n);
    std::vector<float> c(m * n), theirs(m * n);
    gemm(pool, m, n, k, a.data(), k, false, b.data(), n, false, c.data(), n, {});
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(m), static_cast<int>(n),
                static_cast<int>(k), 1, a.data(), static_cast<int>(k), b.data(), static_cast<int>(n), 0, theirs.data(),
                static_cast<int>(n));
    for (int64_t i = 0; i < m * n; ++i) ASSERT_NEAR(c[i], theirs[i], 2e-6 * static_cast<double>(k)) << i;
  }
}

TEST_P(BesideBlas, LargeProductsOfFp64) {
  const int64_t m = 130, n = 257, k = 300;
  std::vector<double> a(m * k), b(k * n), c(m * n), theirs(m * n);
  std::normal_distribution<double> distribution;
  for (auto* values : {&a, &b}) {
    for (double& v : *values) v = distribution(random_);
  }
  for (bool trans_b : {false, true}) {
    const int64_t ldb = trans_b ? k : n;
    gemm_f64(nullptr, m, n, k, 1, a.data(), k, false, b.data(), ldb, trans_b, 0, c.data(), n);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, trans_b ? CblasTrans : CblasNoTrans, static_cast<int>(m),
                static_cast<int>(n), static_cast<int>(k), 1, a.data(), static_cast<int>(k), b.data(),
                static_cast<int>(ldb), 0, theirs.data(), static_cast<int>(n));
    for (int64_t i = 0; i < m * n; ++i) ASSERT_NEAR(c[i], theirs[i], 1e-11) << i;
  }
}

ORTOLAN_FOR_EACH_ISA(BesideBlas);

}  // namespace
}  // namespace ortolan::cpu::kernels
