// Tests of how loops over elements, rows, planes, trees and experts are divided among 1 to 128 threads, without having
// them: enough tasks for each thread, none so small that it is not worth one, the same results for every number.
#include <gtest/gtest.h>

#include <cmath>

#include "base/threads/loop_division.h"
#include "cpu/kernels/division/row_division.h"
#include "cpu/products/expert_division.h"
#include "cpu/trees/forest_division.h"
#include "schedule.h"

namespace ortolan::cpu::kernels {
namespace {

/** Costs of a loop's tasks. */
std::vector<double> loop_costs(int64_t count, int64_t least, double item_ns, int threads) {
  const int64_t chunk = base::division_of(count, least, threads, kMostThreads).chunk;
  std::vector<double> costs;
  for (int64_t at = 0; at < count; at += chunk)
    costs.push_back(static_cast<double>(std::min(chunk, count - at)) * item_ns);
  return costs;
}

void expect_good_loop(int64_t count, int64_t least, double item_ns, int threads) {
  const std::vector<double> costs = loop_costs(count, least, item_ns, threads);
  const double total = static_cast<double>(count) * item_ns, worth = std::max(kLeastTaskNs, item_ns);
  if (total < 2 * kLeastTaskNs && item_ns < kLeastTaskNs) {
    EXPECT_EQ(costs.size(), 1);
  }
  for (size_t i = 0; i + 1 < costs.size(); ++i) EXPECT_GE(costs[i], worth);
  if (costs.size() > 1 && costs.size() <= 8) {
    EXPECT_GE(costs.back(), 0.5 * kLeastTaskNs);
  }
  if (total >= 2 * threads * kGoodTaskNs && count >= 2 * threads) {
    EXPECT_GE(static_cast<int64_t>(costs.size()), 2 * threads);
  }
  const double best = std::max(total / threads, std::min(total, worth));
  EXPECT_LE(time_of(costs, threads), 1.5 * best + 2 * worth);
}

constexpr double kCosts[] = {0.01,        kMovedByteNs, kElementNs, kActivationNs, kScalarNs,
                             kFunctionNs, 300,          4000,       20000,         1e6};

TEST(LoopDivision, LoopsOfAllLengthsAndCosts) {
  for (double item_ns : kCosts) {
    for (int64_t count : {1, 2, 3, 7, 30, 100, 255, 1000, 12345, 1000003}) {
      for (int threads = 1; threads <= kMostThreads; ++threads) {
        SCOPED_TRACE(testing::Message() << count << " of " << item_ns << " ns, " << threads << " threads");
        expect_good_loop(count, least_items(item_ns), item_ns, threads);
      }
    }
  }
}

TEST(LoopDivision, RowsAreItemsOfTheirElements) {
  EXPECT_EQ(least_rows(0, kElementNs), least_items(0));
  EXPECT_EQ(least_rows(1000, 1), 6);
  EXPECT_EQ(least_rows(int64_t{1} << 40, kElementNs), 1);
}

TEST(LoopDivision, PlanesInRows) {
  for (int64_t planes : {1, 2, 3, 16, 100, 1000}) {
    for (int64_t rows : {1, 7, 56, 512}) {
      for (double row_ns : {3.0, 100.0, 6000.0}) {
        for (int threads = 1; threads <= kMostThreads; ++threads) {
          SCOPED_TRACE(testing::Message()
                       << planes << " planes of " << rows << " rows of " << row_ns << " ns, " << threads << " threads");
          const int64_t part = plane_rows(planes, rows, row_ns, threads);
          ASSERT_GE(part, 1);
          ASSERT_LE(part, rows);
          const int64_t tasks = planes * divide_up(rows, part);
          if (part < rows) {
            EXPECT_GE(static_cast<double>(part) * row_ns, kLeastTaskNs);
          }
          if (threads == 1) {
            EXPECT_EQ(part, rows);
          }
          const double total = static_cast<double>(planes * rows) * row_ns;
          if (threads > 1 && total >= 4 * threads * kGoodTaskNs && planes * rows >= 8 * threads) {
            EXPECT_GE(tasks, 2 * threads);
          }
        }
      }
    }
  }
}

TEST(LoopDivision, ColumnsInPieces) {
  for (int64_t outer : {1, 2, 5, 64, 1000}) {
    for (int64_t inner : {1, 31, 64, 256, 1000, 50000}) {
      for (int threads = 1; threads <= kMostThreads; ++threads) {
        const int64_t width = columns_at_once(outer, inner, threads);
        ASSERT_EQ(width % kFewestColumns, 0);
        ASSERT_LE(width, kMostColumns);
        if (threads == 1) {
          EXPECT_EQ(width, kMostColumns);
        }
        EXPECT_TRUE(width == kFewestColumns || threads == 1 || outer * divide_up(inner, width) >= 2 * threads)
            << outer << " x " << inner << ", " << threads << " threads";
      }
    }
  }
}

TEST(LoopDivision, RowsInBlocks) {
  const int64_t long_row = 64 * kSumBlock;
  for (int threads = 1; threads <= kMostThreads; ++threads) {
    EXPECT_EQ(takes_blocks(true, 1, long_row, threads), threads > 1);
    EXPECT_FALSE(takes_blocks(true, 2 * threads, long_row, threads));
    EXPECT_TRUE(takes_blocks(false, 1000, long_row, threads)) << "the length alone decides";
    EXPECT_FALSE(takes_blocks(true, 1, 2 * kSumBlock, threads));
    EXPECT_FALSE(takes_blocks(false, 1, 2 * kSumBlock, threads));
  }
}

TEST(LoopDivision, Forests) {
  for (int64_t trees : {0, 1, 100, 256, 257, 1000, 10000}) {
    for (int64_t rows : {1, 2, 7, 64, 1000, 100000}) {
      for (int threads = 1; threads <= kMostThreads; ++threads) {
        SCOPED_TRACE(testing::Message() << rows << " rows, " << trees << " trees, " << threads << " threads");
        const ForestDivision d = divide_forest(rows, trees, 1, threads);
        if (!d.by_parts) {
          expect_good_loop(rows, d.least, static_cast<double>(trees) * kTreeWalkNs, threads);
          continue;
        }
        EXPECT_GT(threads, 1);
        const auto walks = static_cast<double>(std::min(rows, kRowsTogether) * std::min(trees, kPartTrees));
        expect_good_loop(forest_parts(trees) * divide_up(rows, kRowsTogether), d.least, walks * kTreeWalkNs, threads);
      }
    }
  }
  EXPECT_TRUE(divide_forest(1, 1000, 1, 2).by_parts);
  EXPECT_FALSE(divide_forest(1, 100, 1, 2).by_parts) << "too few trees";
  EXPECT_FALSE(divide_forest(1, 1000, kMostPartial, 2).by_parts) << "too many scores";
}

constexpr ExpertSize kExperts[] = {
    {64, 128, 128, false}, {128, 256, 512, false}, {768, 3072, 3072, true}, {4096, 14336, 14336, true}};

std::vector<int64_t> routes_of(int64_t experts, int64_t rows, bool even) {
  std::vector<int64_t> starts{0};
  for (int64_t e = 0; e < experts; ++e) starts.push_back(even ? (e + 1) * rows / experts : rows - (rows >> (e + 1)));
  return starts;
}

TEST(LoopDivision, BlocksOfExpertsCoverTheirRows) {
  for (const ExpertSize& size : kExperts) {
    for (bool even : {false, true}) {
      for (int64_t rows : {0, 1, 2, 33, 1024}) {
        const std::vector<int64_t> starts = routes_of(8, rows, even);
        int64_t at = 0;
        for (const ExpertRows& block : expert_rows(starts, size, true)) {
          EXPECT_EQ(block.first, at);
          EXPECT_GE(block.rows, 1);
          EXPECT_LE(block.rows, 128);
          EXPECT_GE(block.first, starts[block.expert]);
          at += block.rows;
          EXPECT_LE(at, starts[block.expert + 1]);
        }
        EXPECT_EQ(at, starts.back());
        for (const ExpertRows& block : expert_rows(starts, size, false)) {
          EXPECT_EQ(block.rows, starts[block.expert + 1] - starts[block.expert]) << "weights are packed once";
        }
      }
    }
  }
}

/** When all threads are done, blocks shared or one after the other. */
double time_of_experts(std::span<const ExpertRows> blocks, const ExpertSize& size, bool shared, int threads) {
  std::vector<double> costs;
  double in_turn = 0;
  const double layers = size.gated ? 3 : 2;
  for (const ExpertRows& block : blocks) {
    const double ns = expert_product_ns(block.rows, size.weights());
    costs.push_back(ns);
    in_turn += std::max(ns / threads, std::min(ns, layers * kLeastTaskNs)) + layers * kLeastTaskNs;
  }
  return shared ? time_of(costs, threads) : in_turn;
}

TEST(LoopDivision, Experts) {
  for (const ExpertSize& size : kExperts) {
    for (bool even : {false, true}) {
      for (int64_t rows : {1, 2, 33, 1024}) {
        const std::vector<int64_t> starts = routes_of(16, rows, even);
        const std::vector<ExpertRows> blocks = expert_rows(starts, size, true);
        double before = HUGE_VAL;
        for (int threads = 2; threads <= kMostThreads; ++threads) {
          SCOPED_TRACE(testing::Message() << rows << " rows of " << size.inter << ", " << threads << " threads");
          const bool shared = shares_blocks(blocks, size, threads);
          const double time = time_of_experts(blocks, size, shared, threads);
          EXPECT_LE(time, 1.3 * time_of_experts(blocks, size, !shared, threads) + kGoodTaskNs);
          EXPECT_LE(time, 1.3 * before + kGoodTaskNs) << "more threads, more time";
          before = std::min(before, time);
        }
        EXPECT_FALSE(shares_blocks(blocks, size, 1));
      }
    }
  }
}

}  // namespace
}  // namespace ortolan::cpu::kernels
