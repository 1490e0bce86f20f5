// How the work of convolutions is divided among threads: grids of what can be done alone, as pure functions of shapes.
// Internal to the kernels and their tests.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/kernels/division/panel_split.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/products/gemm_f32_kernels.h"
#include "cpu/kernels/products/split_f32_kernels.h"

namespace ortolan::cpu::kernels {

/** Output channels and the panels of output positions that they meet, in each of `slabs` groups of images. */
struct PanelConv {
  int64_t slabs, channels, depth;  // depth: products in a sum, or input channels where panels are transformed
  const PanelSplit& split;
  int lanes;
  int64_t tile_rows;

  /** A thin panel goes with the one before it, if there is one: on its own it would read all weights again. */
  int64_t panels() const { return split.count() - (split.count() > 1 && split.thin(split.count() - 1) ? 1 : 0); }
};

/** Nanoseconds to gather a panel of `depth` rows of `width` outputs, of which `row` lie in a row of the output. */
inline double gather_ns(int64_t depth, int64_t width, int64_t row) {
  const double runs = static_cast<double>(divide_up(width, std::max<int64_t>(1, row)));
  return static_cast<double>(depth) * (static_cast<double>(width) * kCopyNs + runs * kRunNs);
}

/** Units are panels, which are gathered or read where they lie, and tiles of channels. `blocks`: of the sums. */
inline PreparedGrid direct_conv_grid(const PanelConv& c, bool gathers, int64_t out_row, int64_t blocks) {
  constexpr int64_t kColumnsAtOnce = 192;  // share one pass over the weights
  const int64_t width = c.split.width(0), rows = c.tile_rows;
  const auto products = static_cast<double>(c.depth * rows * width);
  Grid grid{c.panels(), divide_up(c.channels, rows), products * multiply_ns(c.lanes)};
  grid.highest = std::max<int64_t>(1, kColumnsAtOnce / width);
  grid.row_share += in_units(static_cast<double>(c.depth * width) * sizeof(float) * kByteNs, grid);
  grid.column_share += in_units(static_cast<double>(c.depth * rows) * sizeof(float) * kByteNs, grid);
  grid.times = c.slabs;
  const int64_t bytes = c.depth * divide_up(c.split.padded(), c.panels()) * static_cast<int64_t>(sizeof(float));
  return {grid, gathers ? gather_ns(c.depth, width, out_row) : 0, blocks, bytes};
}

constexpr int64_t kTransformedAtOnce = 32;  // channels of a panel that are transformed alone, where all are before

/** Units are the same, of tiles that are transformed into `products` elements of each channel. */
inline PreparedGrid winograd_grid(const PanelConv& c, int64_t products) {
  constexpr int64_t kPanelFloats = 64 << 10;  // transformed at once
  constexpr double kTransformNs = 0.35;       // of each product's element
  const int64_t width = c.split.width(0), rows = c.tile_rows, tiles = products * c.depth * width;
  const double sums_ns = static_cast<double>(products * rows * width) * kTransformNs;
  Grid grid{c.panels(), divide_up(c.channels, rows), static_cast<double>(tiles * rows) * multiply_ns(c.lanes)};
  grid.unit_ns += sums_ns;
  grid.highest = std::max<int64_t>(1, kPanelFloats / tiles);
  grid.row_share += in_units(static_cast<double>(tiles) * sizeof(float) * kByteNs, grid);
  grid.column_share += in_units(static_cast<double>(products * c.depth * rows) * sizeof(float) * kByteNs, grid);
  grid.times = c.slabs;
  const int64_t bytes = products * c.depth * divide_up(c.split.padded(), c.panels()) * int64_t{sizeof(float)};
  return {grid, static_cast<double>(tiles) * kTransformNs, divide_up(c.depth, kTransformedAtOnce), bytes};
}

/** Output channels and numbered positions on tiles of slices, in each of `slabs` groups of images. */
struct SplitConvSize {
  int64_t slabs, channels, positions;
  int64_t steps, taps;  // of a sum: taps for each kSplitStep channels of the input
  int64_t halo;         // positions that a band reads beyond its last one
  int64_t split;        // elements of the input that are split for a position
  int64_t words;        // of slices for a position
  int slices;
};

/** Units are kSplitColumns positions and kSplitRows channels. */
inline PreparedGrid split_conv_grid(const SplitConvSize& c, int64_t l2_bytes) {
  const auto steps = static_cast<double>(c.steps), products = static_cast<double>(c.slices * (c.slices + 1) / 2);
  const double position_ns = static_cast<double>(c.split) * kTileSplitNs;
  Grid grid{divide_up(c.positions, kSplitColumns), divide_up(c.channels, kSplitRows),
            4 * kTileProductNs * steps * products + kTileSumsNs};
  const int64_t words = std::clamp<int64_t>(l2_bytes / 2, 256 << 10, 2 << 20) / 4;  // of a band's slices
  grid.highest = std::max<int64_t>(4, (words / c.words - c.halo) / kSplitColumns);
  grid.row_share += in_units(static_cast<double>(kSplitColumns * c.words) * sizeof(uint32_t) * kByteNs, grid);
  grid.column_share += in_units(steps * static_cast<double>(c.slices * 2048) * kByteNs, grid);
  grid.times = c.slabs;
  return {grid,
          kSplitColumns * position_ns,
          divide_up(c.steps, c.taps),
          kSplitColumns * c.words * int64_t{sizeof(uint32_t)},
          static_cast<double>(c.halo) * position_ns,
          c.halo * c.words * int64_t{sizeof(uint32_t)}};
}

/** A pointwise convolution and a depthwise one of square windows of its result: sizes of images and windows. */
struct PairSize {
  int64_t images, depth, channels;  // depth: input channels of the pointwise one
  int64_t in_rows, in_width, out_rows, out_width;
  int64_t window, step;
  int64_t unit;  // channels, of a register tile
  int lanes;

  /** Rows between that a band of output rows reads. */
  int64_t rows_between(int64_t rows) const { return std::min(in_rows, (rows - 1) * step + window); }
};

/** Each task computes `rows` rows of `channels` channels of an image through both; of no rows: one after the other. */
struct PairDivision {
  int64_t rows = 0, channels = 0;
  bool is_apart() const { return rows == 0; }
};

/** What a task of so many output rows and channels costs. */
inline double pair_task_ns(const PairSize& s, double rows, double channels) {
  constexpr double kTaskNs = 1e3, kNearByteNs = 0.01, kBetweenNs = 0.1;
  const auto in_rows = static_cast<double>(s.in_rows), step = static_cast<double>(s.step);
  const auto window = static_cast<double>(s.window), depth = static_cast<double>(s.depth);
  const double between = std::min(in_rows, (rows - 1) * step + window) * static_cast<double>(s.in_width);
  const double taps = (rows + window / step - 1) * static_cast<double>(s.out_width) * window * window;
  return kTaskNs + between * depth * (channels * multiply_ns(s.lanes) + sizeof(float) * kNearByteNs) +
         channels * (between * kBetweenNs + taps * kDepthwiseTapNs);
}

/** Of all tasks, which are about alike. */
inline double pair_ns(const PairSize& s, const PairDivision& d, int degree) {
  const int64_t bands = divide_up(s.out_rows, d.rows), groups = divide_up(s.channels, d.channels);
  const auto rounds = static_cast<double>(divide_up(s.images * bands * groups, degree));
  const double rows = static_cast<double>(s.out_rows) / static_cast<double>(bands);
  const double channels = static_cast<double>(s.channels) / static_cast<double>(groups);
  return (rounds + (degree > 1 ? kWaiting : 0)) * pair_task_ns(s, rows, channels);
}

/** The division that costs least of those whose values between stay in the second-level cache, which has l2_bytes. */
inline PairDivision divide_pair(const PairSize& s, int64_t l2_bytes, int degree) {
  constexpr double kFarByteNs = 0.13;  // written, and read again from beyond that cache
  const int64_t l2_floats = l2_bytes / int64_t{sizeof(float)}, between = s.images * s.channels * s.in_rows * s.in_width;
  if (between <= degree * l2_floats / 8) return {};
  const double far_ns = kFarByteNs * static_cast<double>(between) * sizeof(float);
  double least = (pair_ns(s, {s.out_rows, s.channels}, 1) + far_ns) / degree;
  PairDivision best;
  const EvenParts heights(s.out_rows, INT64_MAX, INT64_MAX);
  const EvenParts widths(divide_up(s.channels, s.unit), INT64_MAX, INT64_MAX);
  for (int h = 0; h < heights.ways; ++h) {
    for (int w = 0; w < widths.ways; ++w) {
      const PairDivision d{heights.size[h], std::min(s.channels, widths.size[w] * s.unit)};
      if (s.rows_between(d.rows) * s.in_width * d.channels > l2_floats / 6) continue;
      const double cost = pair_ns(s, d, degree);
      if (cost >= least) continue;
      least = cost;
      best = d;
    }
  }
  return best;
}

}  // namespace ortolan::cpu::kernels
