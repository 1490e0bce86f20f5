// fp64 products: blocks of rows of A by panels of B, in blocks of the depth.
#include <algorithm>

#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/threads.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/layout/move_kernels.h"
#include "cpu/kernels/products/gemm_f32.h"
#include "cpu/kernels/products/gemm_f64_kernels.h"
#include "cpu/kernels/scratch.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr int64_t kDepth = 256;
constexpr int64_t kRowsAtOnce = 384;      // whose block of A stays in the second-level cache while panels pass over it
constexpr int64_t kColumnsAtOnce = 1200;  // whose panels are packed together
constexpr int64_t kPanelsForPacking = 4;  // that read the same rows

struct Operand {
  const double* data;
  int64_t row, column;  // strides, one of which is 1
  const double* at(int64_t i, int64_t j) const { return data + i * row + j * column; }
  Operand transposed() const { return {data, column, row}; }
};

/** Rows [k0, k1) of the columns [begin, end), `width` after `width` of them, zero beyond the last. */
void pack(const Operand& b, int64_t k0, int64_t k1, int64_t begin, int64_t end, int64_t width, double* to) {
  const int64_t depth = k1 - k0, whole = (end - begin) / width * width, left = end - begin - whole;
  if (depth == 0) return;
  if (left > 0) std::fill_n(to + whole * depth, depth * width, 0.0);
  if (b.row == 1) {
    for (int64_t column = begin; column < end; column += width, to += depth * width) {
      kernels().move->transpose[3](b.at(k0, column), b.column, std::min(width, end - column), depth, to, width);
    }
    return;
  }
  for (int64_t k = 0; k < depth; ++k, to += width) {
    const double* from = b.at(k0 + k, begin);
    for (int64_t at = 0; at < whole; at += width) {
      for (int64_t j = 0; j < width; ++j) to[at * depth + j] = from[at + j];
    }
    std::copy_n(from + whole, left, to + whole * depth);
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

  /** Units are blocks of rows, as many as the kernel takes at once, and panels of columns. */
  GridDivision divide(int degree) const {
    const auto unit = static_cast<double>(kernels.rows * kernels.columns) * static_cast<double>(k + 1);
    Grid grid{divide_up(m, kernels.rows), divide_up(n, kernels.columns), unit * multiply_ns(4)};
    grid.highest = kRowsAtOnce / kernels.rows;
    grid.widest = kColumnsAtOnce / kernels.columns;
    grid.row_share += in_units(static_cast<double>(kernels.rows * k) * kPackNs, grid);
    grid.column_share += in_units(static_cast<double>(kernels.columns * k) * kPackNs, grid);
    return divide_grid(grid, degree);
  }

  void run(const GridDivision& d, int64_t task) const {
    const int64_t height = d.height * kernels.rows, width = d.width * kernels.columns;
    const int64_t row = task / d.across * height, column = task % d.across * width;
    const Part part{row, std::min(m, row + height), column, std::min(n, column + width)};
    const bool packs_a = part.columns() >= kPanelsForPacking * kernels.columns;
    const bool packs_b = b.column != 1 || part.rows() > 2 * kernels.rows;
    const Scratch<double> of_a(packs_a ? height * kDepth : 0), of_b(kDepth * (packs_b ? width : kernels.columns));
    for (int64_t k0 = 0; k0 == 0 || k0 < k; k0 += kDepth) {
      const int64_t k1 = std::min(k, k0 + kDepth);
      if (packs_a) pack(a.transposed(), k0, k1, part.row, part.row_end, kernels.rows, of_a.data());
      if (packs_b) pack(b, k0, k1, part.column, part.column_end, kernels.columns, of_b.data());
      for (int64_t at = part.column; at < part.column_end; at += kernels.columns) {
        BlockF64 block{0, std::min(kernels.columns, part.column_end - at), k1 - k0};
        block.alpha = alpha, block.beta = k0 == 0 ? beta : 1;
        set_panel(block, k0, at, packs_b ? of_b.data() + (at - part.column) * (k1 - k0) : nullptr, of_b.data());
        multiply_panel(block, part, k0, at, packs_a ? of_a.data() : nullptr);
      }
    }
  }

  struct Part {
    int64_t row, row_end, column, column_end;
    int64_t rows() const { return row_end - row; }
    int64_t columns() const { return column_end - column; }
  };

  /** What is not packed is read where it lies, but for the last columns: whole rows of a panel are read. */
  void set_panel(BlockF64& block, int64_t k0, int64_t column, const double* packed, double* room) const {
    block.b = packed, block.b_row = kernels.columns;
    if (packed != nullptr) return;
    if (block.columns == kernels.columns) {
      block.b = b.at(k0, column), block.b_row = b.row;
    } else {
      pack(b, k0, k0 + block.depth, column, column + block.columns, kernels.columns, room);
      block.b = room;
    }
  }

  void multiply_panel(BlockF64 block, const Part& part, int64_t k0, int64_t column, const double* packed) const {
    block.a_row = packed != nullptr ? 1 : a.row;
    block.a_column = packed != nullptr ? kernels.rows : a.column;
    block.ldc = ldc;
    for (int64_t row = part.row; row < part.row_end; row += kernels.rows) {
      block.rows = std::min(kernels.rows, part.row_end - row);
      block.a = packed != nullptr ? packed + (row - part.row) * block.depth : a.at(row, k0);
      block.c = c + row * ldc + column;
      kernels.multiply(block);
    }
  }
};

}  // namespace

void gemm_f64(base::ThreadPool* pool, int64_t m, int64_t n, int64_t k, double alpha, const double* a, int64_t lda,
              bool trans_a, const double* b, int64_t ldb, bool trans_b, double beta, double* c, int64_t ldc) {
  const Operand left{a, trans_a ? 1 : lda, trans_a ? lda : 1}, right{b, trans_b ? 1 : ldb, trans_b ? ldb : 1};
  const ProductF64 product{m, n, k, alpha, beta, left, right, c, ldc, *kernels().gemm_f64};
  if (m == 0 || n == 0) return;
  const GridDivision division = product.divide(threads_of(pool));
  base::parallel_for(pool, division.tasks(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) product.run(division, task);
  });
}

}  // namespace ortolan::cpu::kernels
