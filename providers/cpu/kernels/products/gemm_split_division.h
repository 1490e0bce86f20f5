// Which fp32 products gain by tiles of bfloat16 slices, and how their blocks are shared among threads: pure functions.
// Internal to the kernels and their tests.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/products/gemm_division.h"
#include "cpu/kernels/products/split_f32_kernels.h"

namespace ortolan::cpu::kernels {

inline double split_rows_ns(const SplitCosts& costs, int64_t k) {
  return costs.split * static_cast<double>(kSplitRows * k);
}

inline double split_block_ns(const SplitCosts& costs, int slices, int64_t k) {
  return 4 * costs.tile_product * static_cast<double>(split_steps(k) * split_products(slices, slices)) + costs.sums;
}

inline bool gains_on_tiles(const SplitCosts& costs, const ProductSize& p, int slices) {
  if (p.m < kSplitRows || p.n < kSplitColumns || p.k < 2 * kSplitStep) return false;
  const auto rows = static_cast<double>(p.m), columns = static_cast<double>(p.n), depth = static_cast<double>(p.k);
  // A half that is missing takes half the time.
  const double blocks = static_cast<double>(divide_up(p.m, kSplitRows / 2) * divide_up(p.n, kSplitColumns / 2)) / 4;
  const double tiles = 4 * static_cast<double>(split_steps(p.k) * split_products(slices, slices));
  const double sums =
      blocks * (tiles * costs.tile_product + static_cast<double>(divide_up(p.k, kSplitLongest)) * costs.sums);
  const double splits = depth * (rows + columns) * costs.split;
  return sums + splits < 0.9 * rows * columns * depth * costs.multiply;
}

/** For each `rows` of A and kSplitLongest of k, these are split first. Then each task multiplies the blocks of `grid`,
    whose units are blocks of rows and panels of kSplitColumns columns. */
struct SplitDivision {
  int64_t rows;
  bool own_rows;  // each thread takes so many rows and splits what it needs, B too: tall products are faster so
  GridDivision grid;
  int64_t shared_panels;   // of B, split before they are multiplied; 0: each task splits its own, which no other reads
  int64_t panels_at_once;  // of those of a task, over each block of rows
};

inline SplitDivision divide_split(const SplitCosts& costs, const ProductSize& p, int slices, int degree,
                                  int64_t l2_bytes) {
  constexpr int64_t kMostRows = 1024, kFewestOwnRows = 128, kMostShared = 16 << 20, kMostAtOnce = 6;
  const int64_t k = std::min(p.k, kSplitLongest), bytes = split_bytes(slices, k), room = l2_bytes / 8 * 5 / bytes;
  const int64_t own_tasks = degree == 1 ? 1 : 2 * degree;
  SplitDivision d{};
  d.own_rows = degree > 1 && p.m >= own_tasks * kFewestOwnRows;
  const int64_t bands = std::max(divide_up(p.m, kMostRows), d.own_rows ? own_tasks : 1);
  d.rows = round_up(divide_up(p.m, bands), kSplitRows);
  const int64_t blocks = divide_up(d.rows, kSplitRows), panels = divide_up(p.n, kSplitColumns);
  const Grid grid{blocks, panels, split_block_ns(costs, slices, k)};
  d.grid = divide_grid(grid, d.own_rows ? 1 : degree);
  if (d.grid.down > 1) {
    d.shared_panels = std::min(panels, round_up(std::max<int64_t>(kMostShared / bytes, 1), d.grid.width));
  }
  // Blocks that do not stay in the second-level cache beside the panels pass less often over more panels.
  const int64_t most = std::min(kMostAtOnce, d.grid.width);
  d.panels_at_once = blocks <= room ? 1 : std::clamp<int64_t>(room / 4 * 3, 1, most);
  return d;
}

}  // namespace ortolan::cpu::kernels
