// How a mixture of experts is divided among threads: pure functions of the routes, the experts' size and the number of
// threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/vectors/lengths.h"

namespace ortolan::cpu {

/** Some rows of all routes, ordered by expert, that one expert computes at a time. */
struct ExpertRows {
  int64_t expert, first, rows;
};

struct ExpertSize {
  int64_t hidden, inter, fc1_columns;
  bool gated;

  int64_t weights() const { return hidden * (fc1_columns + inter + (gated ? inter : 0)); }
};

/** The same for every number of threads, as results may depend on which rows are multiplied together. Rows of small
    experts are few at a time; weights of large ones, which are read for all of them, are worth more, and their products
    are enough for several threads. Weights that are packed for each product are packed once. */
inline std::vector<ExpertRows> expert_rows(std::span<const int64_t> starts, const ExpertSize& size, bool is_packed) {
  constexpr int64_t kSmall = 1 << 18, kFewRows = 32, kManyRows = 128;
  const int64_t most = !is_packed ? INT64_MAX : size.weights() <= kSmall ? kFewRows : kManyRows;
  std::vector<ExpertRows> blocks;
  for (size_t e = 0; e + 1 < starts.size(); ++e) {
    const int64_t rows = starts[e + 1] - starts[e], part = rows > 0 ? kernels::even_part(rows, most) : 1;
    for (int64_t at = 0; at < rows; at += part) {
      blocks.push_back({static_cast<int64_t>(e), starts[e] + at, std::min(part, rows - at)});
    }
  }
  return blocks;
}

/** A product of so many rows with so many weights, which are read for it. */
inline double expert_product_ns(int64_t rows, int64_t weights) {
  constexpr int kLanes = 8;
  const auto count = static_cast<double>(weights);
  return count * std::max(static_cast<double>(rows) * kernels::multiply_ns(kLanes), sizeof(float) * kernels::kByteNs);
}

/** Whether blocks are shared among threads, each of which computes its own alone; else they come one after the other,
    and all threads share each of their products. */
inline bool shares_blocks(std::span<const ExpertRows> blocks, const ExpertSize& size, int degree) {
  constexpr double kLoopNs = 5e3;
  if (degree <= 1) return false;
  const int64_t layers = size.gated ? 3 : 2;
  double all = 0, largest = 0, in_turn = 0;
  for (const ExpertRows& block : blocks) {
    const double ns = expert_product_ns(block.rows, size.weights());
    all += ns;
    largest = std::max(largest, ns);
    in_turn += static_cast<double>(layers) * kLoopNs;
    in_turn += std::max(ns / degree, std::min(ns, static_cast<double>(layers) * kernels::kLeastTaskNs));
  }
  return std::max(all / degree, largest) + largest * (degree - 1) / degree / 2 + kLoopNs < in_turn;
}

/** Blocks that a thread takes at least. */
inline int64_t least_blocks(std::span<const ExpertRows> blocks, const ExpertSize& size) {
  double all = 0;
  for (const ExpertRows& block : blocks) all += expert_product_ns(block.rows, size.weights());
  return kernels::least_items(all / static_cast<double>(std::max<size_t>(blocks.size(), 1)));
}

}  // namespace ortolan::cpu
