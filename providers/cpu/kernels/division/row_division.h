// How reductions and planes are divided among threads: pure functions. Internal to the kernels and their tests.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/vectors/lengths.h"
#include "cpu/kernels/vectors/sum_block.h"

namespace ortolan::cpu::kernels {

/** Whether rows are reduced block by block. Sums are the same either way; of what does not add, the length alone
    decides, as its results may depend on how elements are grouped. */
inline bool takes_blocks(bool adds, int64_t outer, int64_t axis, int degree) {
  constexpr int64_t kFewestBlocks = 16;
  if (axis < kFewestBlocks * kSumBlock) return false;
  return !adds || (degree > 1 && outer < 2 * degree);
}

constexpr int64_t kMostColumns = 256, kFewestColumns = 64;  // of one piece of work
constexpr int64_t kColumnPart = 4096;                       // elements of a long column that are reduced at a time

/** Columns of one piece, which do not depend on each other. */
inline int64_t columns_at_once(int64_t outer, int64_t inner, int degree) {
  int64_t width = kMostColumns;
  while (degree > 1 && width > kFewestColumns && outer * divide_up(inner, width) < 2 * degree) width /= 2;
  return width;
}

/** Output rows of planes that one task takes at least, where there are enough rows to a plane to divide it. */
inline int64_t plane_rows(int64_t planes, int64_t rows, double row_ns, int degree) {
  if (degree <= 1 || planes >= 2 * degree) return rows;
  return std::clamp<int64_t>(divide_up(rows * planes, 4 * degree), std::min(rows, least_items(row_ns)), rows);
}

}  // namespace ortolan::cpu::kernels
