// How plain products are divided among threads: pure functions. Internal to the kernels and their tests.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/products/gemm_f32_kernels.h"

namespace ortolan::cpu::kernels {

struct ProductSize {
  int64_t m, n, k;
};

/** What kernels take at a time: rows of A in registers, columns of a panel of B, and what a multiplication costs. */
struct ProductTiles {
  int64_t rows, columns;
  double multiply_ns;
  bool packs_left = false;  // each task packs the rows of A that it reads
  int64_t longest_sum = kLongestSum;
};

/** Units are tiles of rows and panels. The last tile takes a row more where that would be left alone: a lone row is
    summed in another order, and results must not depend on how rows are divided. Where B is not packed, each task packs
    what it reads: reading what another core has packed takes about as long. */
inline Grid grid_of(const ProductSize& p, const ProductTiles& tiles, bool is_packed, int64_t l2_bytes) {
  const int64_t rows = std::min(p.m, tiles.rows), columns = std::min(p.n, tiles.columns);
  const auto depth = static_cast<double>(p.k + 1);
  Grid grid{p.m == 1 ? 1 : divide_up(p.m - 1, tiles.rows), divide_up(p.n, tiles.columns),
            static_cast<double>(rows * columns) * depth * tiles.multiply_ns};
  // Rows of a block of A's columns that stay in the second-level cache while panels pass over them.
  const int64_t fit = l2_bytes / 2 / (4 * std::max<int64_t>(k_block(p.k, tiles.longest_sum), 1)) / tiles.rows;
  grid.highest = std::clamp<int64_t>(fit, 16, 64);
  if (tiles.packs_left) grid.row_share += in_units(static_cast<double>(rows) * depth * kPackNs, grid);
  if (!is_packed) grid.column_share += in_units(static_cast<double>(columns) * depth * kPackNs, grid);
  return grid;
}

/** So many columns of a product of one row, with elements of so many bytes, each of which is read once. */
inline double row_ns(int64_t columns, int64_t k, int lanes, int64_t element_bytes) {
  const auto elements = static_cast<double>(columns) * static_cast<double>(k + 1);
  return elements * std::max(multiply_ns(lanes), static_cast<double>(element_bytes) * kByteNs);
}

/** Into how many parts the rows of each of `count` products are divided, so that each part is work for one thread; 0:
    all threads divide one product after the other, since each is enough for them. */
inline int64_t parts_of_each(int64_t count, const Grid& product, int degree) {
  const double ns = static_cast<double>(product.rows * product.columns) * product.unit_ns;
  if (degree <= 1 || count >= 2 * degree) return 1;
  if (ns >= 2 * degree * kGoodTaskNs) return 0;
  const auto worth = static_cast<int64_t>(ns / kLeastTaskNs);
  return std::clamp<int64_t>(std::min(divide_up(2 * degree, count), worth), 1, product.rows);
}

}  // namespace ortolan::cpu::kernels
