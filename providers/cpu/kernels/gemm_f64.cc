// fp64 products: four rows and a block of columns at a time, in plain loops that the compiler vectorises.
#include <algorithm>

#include "base/thread_pool.h"
#include "cpu/kernels/gemm_f32.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr int64_t kColumns = 64;
constexpr int64_t kDepth = 128;

struct Operand {
  const double* data;
  int64_t row, column;  // strides
  double at(int64_t i, int64_t j) const { return data[i * row + j * column]; }
};

// sums[columns] += sum over k in [k0, k1) of A[row, k] * panel[k - k0][columns]
void add_row(const Operand& a, int64_t row, int64_t k0, int64_t k1, const double* panel, double* sums) {
  for (int64_t k = k0; k < k1; ++k) {
    const double x = a.at(row, k);
    const double* b = panel + (k - k0) * kColumns;
    for (int64_t j = 0; j < kColumns; ++j) sums[j] += x * b[j];
  }
}

void copy_panel(const Operand& b, int64_t k0, int64_t k1, int64_t column, int64_t columns, double* panel) {
  for (int64_t k = k0; k < k1; ++k) {
    for (int64_t j = 0; j < kColumns; ++j) panel[(k - k0) * kColumns + j] = j < columns ? b.at(k, column + j) : 0;
  }
}

}  // namespace

void gemm_f64(base::ThreadPool* pool, int64_t m, int64_t n, int64_t k, double alpha, const double* a, int64_t lda,
              bool trans_a, const double* b, int64_t ldb, bool trans_b, double beta, double* c, int64_t ldc) {
  const Operand left{a, trans_a ? 1 : lda, trans_a ? lda : 1}, right{b, trans_b ? 1 : ldb, trans_b ? ldb : 1};
  base::parallel_for(pool, (n + kColumns - 1) / kColumns, 1, [&](int64_t begin, int64_t end) {
    double panel[kDepth * kColumns];
    for (int64_t i = begin; i < end; ++i) {
      const int64_t column = i * kColumns, columns = std::min(kColumns, n - column);
      for (int64_t k0 = 0; k0 == 0 || k0 < k; k0 += kDepth) {
        const int64_t k1 = std::min(k, k0 + kDepth);
        copy_panel(right, k0, k1, column, columns, panel);
        for (int64_t row = 0; row < m; ++row) {
          double sums[kColumns] = {};
          add_row(left, row, k0, k1, panel, sums);
          double* out = c + row * ldc + column;
          const double scale = k0 == 0 ? beta : 1;
          for (int64_t j = 0; j < columns; ++j) out[j] = alpha * sums[j] + (scale != 0 ? scale * out[j] : 0);
        }
      }
    }
  });
}

}  // namespace ortolan::cpu::kernels
