// How walks of rows through trees are divided among threads: pure functions of sizes and the number of threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/vectors/lengths.h"

namespace ortolan::cpu {

constexpr double kTreeWalkNs = 25;         // one row from a root to a leaf
constexpr int64_t kPartTrees = 256;        // whose scores are added up before they join those of others
constexpr int64_t kRowsTogether = 8;       // of a task where threads share trees
constexpr int64_t kMostPartial = 1 << 20;  // scores of parts that wait for each other

inline int64_t forest_parts(int64_t trees) { return std::max<int64_t>(1, kernels::divide_up(trees, kPartTrees)); }

struct ForestDivision {
  bool by_parts;  // each task walks a part of the trees with some rows; else all trees with some rows
  int64_t least;  // tasks, or rows, that a thread takes at least
};

/** Whichever gives more tasks, up to two for each thread. */
inline ForestDivision divide_forest(int64_t rows, int64_t trees, int64_t targets, int degree) {
  const int64_t parts = forest_parts(trees), least = kernels::least_rows(trees, kTreeWalkNs);
  const int64_t by_rows = rows / least, by_parts = parts * kernels::divide_up(rows, kRowsTogether);
  const double scores = static_cast<double>(parts) * static_cast<double>(rows) * static_cast<double>(targets);
  if (degree <= 1 || parts == 1 || by_rows >= 2 * degree || by_parts <= by_rows || scores > kMostPartial)
    return {false, least};
  return {true, kernels::least_rows(std::min(rows, kRowsTogether) * std::min(trees, kPartTrees), kTreeWalkNs)};
}

}  // namespace ortolan::cpu
