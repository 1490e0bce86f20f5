// Tests of how convolutions are divided among 1 to 128 threads, without having them: real layers, each way to convolve.
#include "cpu/kernels/convolution/conv_division.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "conv_reference.h"
#include "cpu/kernels/convolution/split_conv_f32_kernels.h"
#include "cpu/kernels/convolution/split_conv_positions.h"
#include "cpu/kernels/quantised/int8_division.h"
#include "schedule.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr double kSlower = 1.3;                             // than the fastest division, at most
constexpr int kCompared[] = {2, 3, 8, 15, 16, 31, 64, 97};  // threads for which the fastest division is sought
constexpr int64_t kL2Bytes = 2 << 20;

struct Layer {
  const char* name;
  ConvGeometry g;
};

ConvGeometry batched(ConvGeometry g, int64_t batch) {
  g.batch = batch;
  return g;
}

ConvGeometry line(int64_t channels, int64_t out_channels, int64_t length, int64_t kernel) {
  ConvGeometry g = plane(channels, out_channels, 1, 1, 1, 1);
  g.in[2] = g.out[2] = length;
  g.kernel[2] = kernel, g.pad_begin[2] = kernel / 2;
  return g;
}

ConvGeometry cube(int64_t channels, int64_t out_channels, int64_t size) {
  ConvGeometry g = plane(channels, out_channels, 1, size, 3, 1);
  g.in[0] = g.out[0] = size, g.kernel[0] = 3, g.pad_begin[0] = 1;
  return g;
}

std::vector<Layer> layers() {
  std::vector<Layer> all;
  for (int64_t batch : {1, 8}) {
    all.push_back({"ResNet-50's first", batched(plane(3, 64, 1, 224, 7, 2), batch)});
    for (int64_t channels : {64, 128, 256, 512}) {
      const int64_t size = 56 * 64 / channels;
      all.push_back({"ResNet-50, 1x1 to many", batched(plane(channels, 4 * channels, 1, size, 1, 1), batch)});
      all.push_back({"ResNet-50, 1x1 to few", batched(plane(4 * channels, channels, 1, size, 1, 1), batch)});
      all.push_back({"ResNet-50, 3x3", batched(plane(channels, channels, 1, size, 3, 1), batch)});
      if (size > 7)
        all.push_back({"ResNet-50, 3x3 in steps", batched(plane(channels, channels, 1, size, 3, 2), batch)});
    }
    all.push_back({"MobileNetV2, 1x1", batched(plane(96, 24, 1, 56, 1, 1), batch)});
    all.push_back({"MobileNetV2, last", batched(plane(320, 1280, 1, 7, 1, 1), batch)});
  }
  all.push_back({"1-D", line(384, 384, 1500, 3)});
  all.push_back({"3-D", cube(32, 64, 16)});
  all.push_back({"groups", plane(128, 128, 32, 56, 3, 1)});
  return all;
}

int64_t slabs(const ConvGeometry& g) { return g.batch * g.groups; }
int64_t channels(const ConvGeometry& g) { return g.out_channels / g.groups; }
int64_t depth(const ConvGeometry& g) { return g.in_channels / g.groups * volume(g.kernel); }

struct Vectors {
  int lanes, max_vectors;
  int64_t tile_rows;
};
constexpr Vectors kVectors[] = {{4, 4, 4}, {8, 2, 6}, {16, 3, 8}};

// Costs of the tasks of all slabs, chunk after chunk of `grain`.
std::vector<double> costs_of(const Grid& grid, const GridDivision& d, int64_t grain) {
  std::vector<double> costs;
  int64_t units = 0, tasks = 0;
  for (int64_t slab = 0; slab < grid.times; ++slab) {
    for (int64_t row = 0; row < grid.rows; row += d.height) {
      for (int64_t column = 0; column < grid.columns; column += d.width, ++tasks) {
        const GridDivision task{std::min(d.height, grid.rows - row), std::min(d.width, grid.columns - column), 1, 1};
        units += task.height * task.width;
        if (tasks % grain == 0) costs.push_back(0);
        costs.back() += task_ns(grid, task);
      }
    }
  }
  EXPECT_EQ(units, grid.rows * grid.columns * grid.times);
  EXPECT_EQ(tasks, grid.times * d.tasks());
  return costs;
}

struct Schedule {
  double ns, task_ns;  // until all is done; of a whole task
  int64_t chunks;
};

Schedule schedule_of(const PreparedGrid& p, const PreparedDivision& d, int threads) {
  const double rows = static_cast<double>(p.grid.rows * p.grid.times),
               bands = static_cast<double>(p.grid.times * d.grid.down);
  const double once = rows * p.prepare_ns + bands * p.beside_ns;
  Grid grid = p.grid;
  Schedule s{0, 0, 0};
  if (d.together) {
    const auto pieces = static_cast<int64_t>(rows) * p.pieces;
    s.ns = kLeastTaskNs + static_cast<double>(divide_up(pieces, threads)) * once / static_cast<double>(pieces);
  } else {
    grid.row_share += in_units(p.prepare_ns, grid);
    grid.task_ns += p.beside_ns;
  }
  const std::vector<double> costs = costs_of(grid, d.grid, d.grain);
  s.chunks = static_cast<int64_t>(costs.size());
  s.task_ns = task_ns(grid, d.grid);
  s.ns += time_of(costs, threads);
  return s;
}

// The fastest of all divisions whose tasks are worth a thread, and of both ways to prepare what they read.
double fastest_of(const PreparedGrid& p, int threads) {
  constexpr int64_t kMostBytes = 16 << 20;
  const Grid& grid = p.grid;
  double fastest = HUGE_VAL;
  for (int64_t height = std::min(grid.rows, grid.highest); height > 0; height -= 1 + height / 8) {
    for (int64_t width = grid.columns; width > 0; width -= 1 + width / 8) {
      const bool whole = height == std::min(grid.rows, grid.highest) && width == grid.columns;
      if (!whole && static_cast<double>(height * width) * grid.unit_ns < kLeastTaskNs) continue;
      PreparedDivision d{{height, width, divide_up(grid.rows, height), divide_up(grid.columns, width)}, false, 1};
      if (d.grid.tasks() * grid.times > 8 * threads && !whole) continue;
      for (bool together : {false, true}) {
        d.together = together;
        if (together && grid.rows * grid.times * p.bytes > kMostBytes) continue;
        fastest = std::min(fastest, schedule_of(p, d, threads).ns);
      }
    }
  }
  return fastest;
}

void expect_good(const PreparedGrid& p, int threads) {
  const PreparedDivision d = divide_prepared(p, threads);
  const Grid& grid = p.grid;
  ASSERT_GE(d.grid.height, 1);
  ASSERT_GE(d.grid.width, 1);
  ASSERT_EQ(d.grid.down, divide_up(grid.rows, d.grid.height));
  ASSERT_EQ(d.grid.across, divide_up(grid.columns, d.grid.width));
  EXPECT_LE(d.grid.height, grid.highest);
  if (threads == 1) {
    EXPECT_FALSE(d.together);
    EXPECT_EQ(d.grid.across, 1) << "inputs are prepared twice";
    return;
  }
  const Schedule s = schedule_of(p, d, threads);
  const double whole = static_cast<double>(d.grid.height * d.grid.width) * grid.unit_ns;
  if (s.chunks > 1 && d.grid.tasks() > 1 && grid.rows <= grid.highest) {
    EXPECT_GE(whole, kLeastTaskNs);
  }
  if (s.chunks > 1) {
    EXPECT_GE(static_cast<double>(d.grain) * s.task_ns, kLeastTaskNs);
  }
  if (std::count(std::begin(kCompared), std::end(kCompared), threads) == 0) return;
  EXPECT_LE(s.ns, kSlower * fastest_of(p, threads) + kLeastTaskNs);
}

void expect_all_good(const PreparedGrid& p) {
  for (int threads = 1; threads <= kMostThreads; ++threads) {
    SCOPED_TRACE(testing::Message() << threads << " threads");
    expect_good(p, threads);
  }
}

TEST(ConvDivision, Direct) {
  for (const Layer& layer : layers()) {
    for (const Vectors& v : kVectors) {
      const ConvGeometry& g = layer.g;
      const PanelSplit split(volume(g.out), v, v.lanes / 4);
      const PanelConv c{slabs(g), channels(g), depth(g), split, v.lanes, v.tile_rows};
      SCOPED_TRACE(testing::Message() << layer.name << " of batch " << g.batch << ", " << v.lanes << " lanes");
      for (bool gathers : {false, true}) {
        expect_all_good(direct_conv_grid(c, gathers, g.out[2], divide_up(depth(g), 256)));
      }
    }
  }
}

TEST(ConvDivision, Winograd) {
  for (const Layer& layer : layers()) {
    const ConvGeometry& g = layer.g;
    if (g.kernel[1] != 3 || g.kernel[0] != 1 || g.groups != 1) continue;
    for (const Vectors& v : kVectors) {
      const PanelSplit split(divide_up(g.out[1], 2) * divide_up(g.out[2], 2), v, v.lanes / 4);
      const PanelConv c{slabs(g), channels(g), g.in_channels, split, v.lanes, v.tile_rows};
      SCOPED_TRACE(testing::Message() << layer.name << " of batch " << g.batch << ", " << v.lanes << " lanes");
      expect_all_good(winograd_grid(c, g.stride[1] == 1 ? 16 : 25));
    }
  }
}

TEST(ConvDivision, Tiles) {
  for (const Layer& layer : layers()) {
    const ConvGeometry& g = layer.g;
    if (g.kernel[0] != 1) continue;
    const ConvPositions p(g);
    const int64_t blocks = divide_up(g.in_channels / g.groups, kSplitStep), taps = volume(g.kernel);
    const auto phases = static_cast<int64_t>(p.phases.size());
    for (int slices : {1, 3}) {
      SCOPED_TRACE(testing::Message() << layer.name << " of batch " << g.batch << ", " << slices << " slices");
      expect_all_good(split_conv_grid({slabs(g), channels(g), p.count, blocks * taps, taps, p.halo,
                                       blocks * kSplitStep * phases, blocks * kSplitPairs * phases * slices, slices},
                                      kL2Bytes));
    }
  }
}

GemmInt8Kernels byte_kernels(const Vectors& v) {
  GemmInt8Kernels kernels{};
  kernels.lanes = v.lanes, kernels.max_vectors = v.max_vectors, kernels.tile_rows = static_cast<int>(v.tile_rows);
  kernels.group = 2;
  return kernels;
}

TEST(ConvDivision, Bytes) {
  for (const Layer& layer : layers()) {
    for (const Vectors& v : kVectors) {
      const ConvGeometry& g = layer.g;
      const PanelSplit split(volume(g.out), v);
      SCOPED_TRACE(testing::Message() << layer.name << " of batch " << g.batch << ", " << v.lanes << " lanes");
      expect_all_good(
          word_conv_grid({slabs(g), channels(g), divide_up(depth(g), 2), split, g.out[2]}, byte_kernels(v)));
    }
  }
}

TEST(ConvDivision, BytesByWinograd) {
  for (const Layer& layer : layers()) {
    const ConvGeometry& g = layer.g;
    if (g.kernel[1] != 3 || g.kernel[0] != 1 || g.groups != 1 || g.stride[1] != 1) continue;
    for (const Vectors& v : kVectors) {
      for (int64_t outputs : {2, 4}) {
        const PanelSplit split(divide_up(g.out[1], outputs) * divide_up(g.out[2], outputs), v);
        SCOPED_TRACE(testing::Message() << layer.name << " of batch " << g.batch << ", " << v.lanes << " lanes");
        expect_all_good(winograd_grid({slabs(g), channels(g), divide_up(g.in_channels, 2), split, v.lanes, v.tile_rows},
                                      (outputs + 2) * (outputs + 2)));
      }
    }
  }
}

TEST(ConvDivision, BytesOnTiles) {
  for (const Layer& layer : layers()) {
    const ConvGeometry& g = layer.g;
    for (bool gathers : {false, true}) {
      SCOPED_TRACE(testing::Message() << layer.name << " of batch " << g.batch << (gathers ? ", gathered" : ""));
      const Grid grid = tile_conv_grid({slabs(g), channels(g), divide_up(depth(g), 4), volume(g.out), gathers});
      EXPECT_TRUE(!gathers || grid.columns == 1) << "lines are gathered by several tasks";
      expect_all_good({grid, 0, 1, 0});
    }
  }
}

TEST(ConvDivision, ImagesAtOnce) {
  for (int64_t images : {1, 2, 7, 8, 64, 1000}) {
    for (double image_ns : {1e3, 1e5, 1e7, 1e9}) {
      for (int64_t bytes : {1 << 10, 1 << 20, 1 << 28}) {
        EXPECT_EQ(images_at_once(images, image_ns, bytes, 1), 1);
        for (int threads = 2; threads <= kMostThreads; ++threads) {
          const int64_t count = images_at_once(images, image_ns, bytes, threads);
          ASSERT_GE(count, 1);
          ASSERT_LE(count, images);
          ASSERT_TRUE(count == 1 || count * bytes <= 16 << 20);
          // Enough work for all threads, unless there is no more or its words would be too many.
          const bool all = count == images, full = (count + 1) * bytes > 8 << 20;
          ASSERT_TRUE(all || full || static_cast<double>(2 * count) * image_ns >= threads * 8 * kGoodTaskNs)
              << count << " of " << images << " images of " << image_ns << " ns for " << threads << " threads";
        }
      }
    }
  }
}

}  // namespace
}  // namespace ortolan::cpu::kernels
