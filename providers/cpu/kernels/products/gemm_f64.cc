// fp64 products: panels of B times blocks of rows of A, in blocks of the depth.
#include <algorithm>

#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/layout/move_kernels.h"
#include "cpu/kernels/products/gemm_f32.h"
#include "cpu/kernels/products/gemm_f64_kernels.h"
#include "cpu/kernels/scratch.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr int64_t kDepth = 128;
constexpr int64_t kBand = 192;  // rows that one thread takes with a panel

struct Operand {
  const double* data;
  int64_t row, column;  // strides
  const double* at(int64_t i, int64_t j) const { return data + i * row + j * column; }
};

/** Rows [k0, k1) of the columns from `column` on, `width` in each row, zero beyond `columns`. */
void copy_panel(const Operand& b, int64_t k0, int64_t k1, int64_t column, int64_t columns, int64_t width,
                double* panel) {
  const int64_t depth = k1 - k0;
  if (columns < width) std::fill_n(panel, depth * width, 0.0);
  if (b.row == 1 && depth > 0) {
    return kernels().move->transpose[3](b.at(k0, column), b.column, columns, depth, panel, width);
  }
  for (int64_t k = 0; k < depth; ++k) {
    const double* from = b.at(k0 + k, column);
    for (int64_t j = 0; j < columns; ++j) panel[k * width + j] = from[j * b.column];
  }
}

/** A product; shared by the threads. */
struct ProductF64 {
  int64_t m, n, k;
  double alpha, beta;
  Operand a, b;
  double* c;
  int64_t ldc;
  const GemmF64Kernels& kernels;

  int64_t panels() const { return (n + kernels.columns - 1) / kernels.columns; }
  int64_t bands() const { return (m + kBand - 1) / kBand; }

  /** One panel of columns of one band of rows. */
  void run(int64_t panel, int64_t band) const {
    const int64_t column = panel * kernels.columns, columns = std::min(kernels.columns, n - column);
    const int64_t first = band * kBand, end = std::min(m, first + kBand);
    const Scratch<double> copy(kDepth * kernels.columns);
    for (int64_t k0 = 0; k0 == 0 || k0 < k; k0 += kDepth) {
      const int64_t k1 = std::min(k, k0 + kDepth);
      BlockF64 block{
          0,       columns, k1 - k0, nullptr, a.row, a.column, b.at(k0, column), b.row, alpha, k0 == 0 ? beta : 1,
          nullptr, ldc};
      const bool direct = b.column == 1 && columns == kernels.columns && end - first <= 2 * kernels.rows;
      if (!direct) {
        copy_panel(b, k0, k1, column, columns, kernels.columns, copy.data());
        block.b = copy.data(), block.b_row = kernels.columns;
      }
      for (int64_t row = first; row < end; row += kernels.rows) {
        block.rows = std::min(kernels.rows, end - row);
        block.a = a.at(row, k0), block.c = c + row * ldc + column;
        kernels.multiply(block);
      }
    }
  }
};

}  // namespace

void gemm_f64(base::ThreadPool* pool, int64_t m, int64_t n, int64_t k, double alpha, const double* a, int64_t lda,
              bool trans_a, const double* b, int64_t ldb, bool trans_b, double beta, double* c, int64_t ldc) {
  const Operand left{a, trans_a ? 1 : lda, trans_a ? lda : 1}, right{b, trans_b ? 1 : ldb, trans_b ? ldb : 1};
  const ProductF64 product{m, n, k, alpha, beta, left, right, c, ldc, *kernels().gemm_f64};
  const int64_t bands = product.bands();
  const double multiplied = static_cast<double>(std::min(m, kBand) * product.kernels.columns) * static_cast<double>(k);
  const int64_t least = least_items(multiplied * multiply_ns(4));
  base::parallel_for(pool, product.panels() * bands, least, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) product.run(i / bands, i % bands);
  });
}

}  // namespace ortolan::cpu::kernels
