// Tests of how work is divided among 1 to 128 threads, without having them: every unit once, enough tasks for each
// thread, none so small that it is not worth one.
#include <gtest/gtest.h>

#include <cmath>

#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/products/gemm_split_division.h"
#include "cpu/kernels/quantised/int8_division.h"
#include "schedule.h"

namespace ortolan::cpu::kernels {
namespace {

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
  if (!caches_divide) {
    EXPECT_LE(time_of(costs, threads), 1.3 * best);
  }
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
    for (int kind = 0; kind <= 3; ++kind) {  // 0: one product on arm64
      const SplitCosts& costs = kind == 0 ? kBfmmlaCosts : kAmxCosts;
      const int slices = std::max(kind, 1);
      for (int threads = 1; threads <= kMostThreads; ++threads) {
        SCOPED_TRACE(testing::Message() << p.m << 'x' << p.n << 'x' << p.k << ", " << threads << " threads");
        const int64_t l2_bytes = 2 << 20, k = std::min(p.k, kSplitLongest), bytes = split_bytes(slices, k);
        const SplitDivision d = divide_split(costs, p, slices, threads, l2_bytes);
        ASSERT_EQ(d.rows % kSplitRows, 0);
        ASSERT_LE(d.rows, round_up(std::min<int64_t>(p.m, 1024), kSplitRows));
        const int64_t panels = divide_up(p.n, kSplitColumns);
        const Grid grid{d.rows / kSplitRows, panels, split_block_ns(costs, slices, k)};
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

constexpr ProductTiles kTiles[] = {{4, 16, multiply_ns(4)}, {6, 16, multiply_ns(8)}, {8, 48, multiply_ns(16)}};

// The same where each task first packs its columns.
double time_with_packing(const Grid& grid, const GridDivision& d, double pack_ns, int threads) {
  std::vector<double> costs = costs_of(grid, d);
  for (int64_t i = 0; i < d.tasks(); ++i) {
    costs[i] += pack_ns * static_cast<double>(std::min(d.width, grid.columns - i % d.across * d.width));
  }
  return time_of(costs, threads);
}

double fastest_packing_once(const Grid& grid, double pack_ns, int threads) {
  double fastest = HUGE_VAL;
  for (int64_t width = 1; width <= grid.columns; width += 1 + width / 16) {
    const GridDivision d{grid.rows, width, 1, divide_up(grid.columns, width)};
    fastest = std::min(fastest, time_with_packing(grid, d, pack_ns, threads));
  }
  return fastest;
}

TEST(WorkDivision, PlainProducts) {
  for (const ProductSize& p : kProducts) {
    for (const ProductTiles& tiles : kTiles) {
      for (int threads = 1; threads <= kMostThreads; ++threads) {
        SCOPED_TRACE(testing::Message() << p.m << 'x' << p.n << 'x' << p.k << ", " << threads << " threads");
        const int64_t l2_bytes = 1 << 20;
        const Grid packed = grid_of(p, tiles, true, l2_bytes), plain = grid_of(p, tiles, false, l2_bytes);
        const GridDivision d = divide_grid(packed, threads);
        ASSERT_NO_FATAL_FAILURE(expect_good(packed, d, threads));
        // A block of a band's columns stays in the cache, and no row is left alone.
        const int64_t tile_bytes = 4 * k_block(p.k) * tiles.rows;
        EXPECT_LE(tile_bytes * d.height, std::max<int64_t>(l2_bytes, tile_bytes * 16));
        EXPECT_NE(p.m - (d.down - 1) * d.height * tiles.rows, 1);
        EXPECT_GT(p.m - (d.down - 1) * d.height * tiles.rows, 0);
        // Packing a panel in several tasks is faster than leaving threads without work.
        if (plain.rows > plain.highest) continue;
        const double pack_ns = static_cast<double>(p.k * std::min(p.n, tiles.columns)) * kPackNs;
        const GridDivision unpacked = divide_grid(plain, threads);
        EXPECT_LE(time_with_packing(plain, unpacked, pack_ns, threads),
                  1.2 * fastest_packing_once(plain, pack_ns, threads) + kLeastTaskNs);
      }
    }
  }
}

TEST(WorkDivision, BatchesOfProducts) {
  // Heads of BERT-base, with the parts that 16 threads need; products that are enough for all threads; many small ones.
  const ProductTiles tiles{8, 48, multiply_ns(16)};
  const auto parts = [&](int64_t count, ProductSize p, int threads) {
    return parts_of_each(count, grid_of(p, tiles, false, 1 << 20), threads);
  };
  EXPECT_EQ(parts(12, {128, 128, 64}, 1), 1);
  EXPECT_EQ(parts(12, {128, 128, 64}, 2), 1);
  EXPECT_EQ(parts(12, {128, 128, 64}, 16), 2);
  EXPECT_EQ(parts(3, {2048, 2048, 512}, 16), 0);
  EXPECT_EQ(parts(4, {8, 8, 8}, 64), 1);
  EXPECT_EQ(parts(1000, {512, 512, 512}, 64), 1);
  for (int threads = 1; threads <= kMostThreads; ++threads) {
    for (int64_t count : {1, 2, 5, 12, 40, 96}) {
      for (const ProductSize& p : kProducts) {
        const Grid grid = grid_of(p, tiles, false, 1 << 20);
        const int64_t n = parts_of_each(count, grid, threads);
        const double item = static_cast<double>(grid.rows * grid.columns) * grid.unit_ns;
        ASSERT_LE(n, grid.rows);
        if (n == 0) {
          EXPECT_GE(item, 2 * threads * kGoodTaskNs);
        } else if (n > 1) {
          EXPECT_GE(item / static_cast<double>(n), kLeastTaskNs);
          EXPECT_LE(count * (n - 1), 2 * threads);
        } else {
          EXPECT_TRUE(count >= 2 * threads || threads == 1 || item < 2 * kLeastTaskNs || grid.rows == 1);
        }
      }
    }
  }
}

TEST(WorkDivision, OneRowIsBoundByMemory) {
  // 768 x 768: 12 panels of 64 columns, each worth a thread.
  EXPECT_EQ(least_items(row_ns(64, 768, 16, 4)), 1);
  EXPECT_LT(row_ns(64, 768, 16, 2), row_ns(64, 768, 16, 4));
  EXPECT_GT(least_items(row_ns(64, 64, 16, 4)), 1);
}

TEST(WorkDivision, ProductsOfBytes) {
  for (const ProductSize& p : kProducts) {
    for (const ProductTiles& tiles : kTiles) {
      GemmInt8Kernels kernels{};
      kernels.lanes = static_cast<int>(tiles.rows * 2), kernels.max_vectors = 2, kernels.group = 4;
      kernels.tile_rows = static_cast<int>(tiles.rows);
      for (bool on_tiles : {false, true}) {
        if (on_tiles) kernels.begin = [] {}, kernels.lanes = 16, kernels.tile_rows = 32;
        const PanelSplit split(p.n, kernels);
        const Grid grid = byte_product_grid(kernels, p.m, divide_up(p.k, 4), split);
        for (int threads = 1; threads <= kMostThreads; ++threads) {
          SCOPED_TRACE(testing::Message() << p.m << 'x' << p.n << 'x' << p.k << ", " << threads << " threads");
          ASSERT_NO_FATAL_FAILURE(expect_good(grid, divide_grid(grid, threads), threads));
        }
      }
    }
  }
}

}  // namespace
}  // namespace ortolan::cpu::kernels
