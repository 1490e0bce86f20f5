// Tests of how work is divided among 1 to 128 threads, without having them: every unit once, enough tasks for each
// thread, none so small that it is not worth one.
#include <gtest/gtest.h>

#include <functional>
#include <queue>

#include "cpu/kernels/gemm_split_division.h"
#include "cpu/kernels/work_division.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr int kMostThreads = 128;

// Costs of the tasks, row after row.
std::vector<double> costs_of(const Grid& grid, const GridDivision& d) {
  std::vector<double> costs;
  for (int64_t row = 0; row < grid.rows; row += d.height) {
    for (int64_t column = 0; column < grid.columns; column += d.width) {
      const int64_t units = std::min(d.height, grid.rows - row) * std::min(d.width, grid.columns - column);
      costs.push_back(static_cast<double>(units) * grid.unit_ns);
    }
  }
  return costs;
}

// When threads that claim one task after the other are done.
double time_of(const std::vector<double>& costs, int threads) {
  std::priority_queue<double, std::vector<double>, std::greater<>> done;
  for (int i = 0; i < threads; ++i) done.push(0);
  double last = 0;
  for (double cost : costs) {
    const double end = done.top() + cost;
    done.pop();
    done.push(end);
    last = std::max(last, end);
  }
  return last;
}

void expect_good(const Grid& grid, const GridDivision& d, int threads) {
  ASSERT_GE(d.height, 1);
  ASSERT_GE(d.width, 1);
  EXPECT_EQ(d.down, divide_up(grid.rows, d.height));
  EXPECT_EQ(d.across, divide_up(grid.columns, d.width));
  EXPECT_LE(d.height, grid.highest);
  EXPECT_LE(d.width, grid.widest);
  const std::vector<double> costs = costs_of(grid, d);
  ASSERT_EQ(static_cast<int64_t>(costs.size()), d.tasks());
  double total = 0;
  for (double cost : costs) total += cost;
  EXPECT_NEAR(total, static_cast<double>(grid.rows * grid.columns) * grid.unit_ns, 1e-9 * total);
  const bool caches_divide = grid.rows > grid.highest || grid.columns > grid.widest;
  if (d.tasks() > 1 && !caches_divide) {
    EXPECT_GE(static_cast<double>(d.height * d.width) * grid.unit_ns, kLeastTaskNs);
  }
  const int64_t least = std::min(2 * least_items(grid.unit_ns), grid.rows * grid.columns);
  const double best = static_cast<double>(std::max(divide_up(grid.rows * grid.columns, threads), least)) * grid.unit_ns;
  if (!caches_divide) EXPECT_LE(time_of(costs, threads), 1.3 * best);
  if (total / (2 * threads) >= 2 * kGoodTaskNs && grid.rows * grid.columns >= 8 * threads && threads > 1) {
    EXPECT_GE(20 * d.tasks(), 17 * 2 * threads);
  }
}

TEST(WorkDivision, ItemsOfALoopAreWorthAThread) {
  EXPECT_EQ(least_items(1e9), 1);
  EXPECT_EQ(least_items(kLeastTaskNs), 1);
  EXPECT_GE(least_items(1) * 1.0, kLeastTaskNs);
  EXPECT_LE(least_items(1) * 1.0, 1.01 * kLeastTaskNs);
  EXPECT_GT(least_items(0), int64_t{1} << 40);
}

TEST(WorkDivision, GridsOfAllShapes) {
  for (int64_t rows : {1, 2, 3, 7, 20, 64, 200}) {
    for (int64_t columns : {1, 5, 12, 24, 96, 500}) {
      for (double unit_ns : {20.0, 400.0, 4200.0, 30000.0, 1e6}) {
        for (int threads = 1; threads <= kMostThreads; ++threads) {
          for (int64_t highest : {INT64_MAX, int64_t{8}}) {
            Grid grid{rows, columns, unit_ns};
            grid.highest = highest;
            SCOPED_TRACE(testing::Message() << rows << " x " << columns << " units of " << unit_ns << " ns, " << threads
                                            << " threads, at most " << highest << " high");
            ASSERT_NO_FATAL_FAILURE(expect_good(grid, divide_grid(grid, threads), threads));
          }
        }
      }
    }
  }
}

// Products of BERT-base, a convolution as a product, a language model's words.
constexpr ProductSize kProducts[] = {{32, 768, 768},   {128, 768, 768},    {128, 3072, 768},  {128, 768, 3072},
                                     {640, 768, 3072}, {3136, 64, 576},    {196, 256, 2304},  {49, 2048, 512},
                                     {50, 64, 64},     {2048, 4096, 4096}, {128, 32000, 768}, {100000, 32, 64}};

TEST(WorkDivision, SplitProducts) {
  for (const ProductSize& p : kProducts) {
    for (int slices = 1; slices <= 3; ++slices) {
      for (int threads = 1; threads <= kMostThreads; ++threads) {
        SCOPED_TRACE(testing::Message() << p.m << 'x' << p.n << 'x' << p.k << ", " << threads << " threads");
        const int64_t l2_bytes = 2 << 20, k = std::min(p.k, kSplitLongest), bytes = split_bytes(slices, k);
        const SplitDivision d = divide_split(p, slices, threads, l2_bytes);
        ASSERT_EQ(d.rows % kSplitRows, 0);
        ASSERT_LE(d.rows, round_up(std::min<int64_t>(p.m, 1024), kSplitRows));
        const int64_t panels = divide_up(p.n, kSplitColumns);
        const Grid grid{d.rows / kSplitRows, panels, split_block_ns(slices, k)};
        if (d.own_rows) {
          EXPECT_GE(divide_up(p.m, d.rows), threads);
          EXPECT_EQ(d.grid.tasks(), 1);
        } else {
          expect_good(grid, d.grid, threads);
        }
        // What several tasks multiply is split before them, in bounded memory.
        EXPECT_EQ(d.shared_panels > 0, d.grid.down > 1);
        EXPECT_LE(d.shared_panels, std::max(panels, d.grid.width));
        EXPECT_LE(d.shared_panels * bytes, (16 << 20) + d.grid.width * bytes);
        EXPECT_GE(d.panels_at_once, 1);
        EXPECT_LE(d.panels_at_once, d.grid.width);
        EXPECT_LE(2 * d.panels_at_once * bytes, l2_bytes);
      }
    }
  }
}

}  // namespace
}  // namespace ortolan::cpu::kernels
