// How the work of convolutions is divided among threads: grids of what can be done alone, as pure functions of shapes.
// Internal to this folder and its tests.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/kernels/gemm_f32_kernels.h"
#include "cpu/kernels/panel_split.h"
#include "cpu/kernels/split_f32_kernels.h"
#include "cpu/kernels/work_cost.h"
#include "cpu/kernels/work_division.h"

namespace ortolan::cpu::kernels {

/** Output channels and the panels of output positions that they meet, in each of `slabs` groups of images. */
struct PanelConv {
  int64_t slabs, channels, depth;  // depth: products in a sum, or input channels where panels are transformed
  const PanelSplit& split;
  int lanes;
  int64_t tile_rows;

  bool has_thin() const { return split.thin(split.count() - 1); }
  /** A thin panel goes with the one before it, if there is one: on its own it would read all weights again. */
  int64_t panels() const { return split.count() - (split.count() > 1 && has_thin() ? 1 : 0); }
  /** Channels of a unit: tiles that thin panels take together stay so, that results do not depend on the division. */
  int64_t unit_rows() const { return tile_rows * (has_thin() ? kThinTiles : 1); }
};

/** Units are panels and unit_rows() channels. */
inline Grid direct_conv_grid(const PanelConv& c, bool gathers) {
  constexpr int64_t kColumnsAtOnce = 192;  // share one pass over the weights
  const auto depth = static_cast<double>(c.depth), rows = static_cast<double>(c.unit_rows()),
             width = static_cast<double>(c.split.width(0));
  Grid grid{c.panels(), divide_up(c.channels, c.unit_rows()), depth * rows * width * multiply_add_ns(c.lanes)};
  grid.highest = std::max<int64_t>(1, kColumnsAtOnce / c.split.width(0));
  grid.row_ns = depth * width * (gathers ? kCopyNs : sizeof(float) * kByteReadNs);
  grid.column_ns = depth * rows * sizeof(float) * kByteReadNs;
  grid.times = c.slabs;
  return grid;
}

/** Units are the same, of tiles that are transformed into `products` elements of each channel. */
inline Grid winograd_grid(const PanelConv& c, int64_t products) {
  constexpr int64_t kPanelFloats = 64 << 10;  // transformed at once
  constexpr double kTransformNs = 0.2;        // of each product's element
  const auto depth = static_cast<double>(c.depth), rows = static_cast<double>(c.unit_rows()),
             width = static_cast<double>(c.split.width(0)), each = static_cast<double>(products);
  Grid grid{c.panels(), divide_up(c.channels, c.unit_rows()),
            each * rows * width * (depth * multiply_add_ns(c.lanes) + kTransformNs)};
  grid.highest = std::max<int64_t>(1, kPanelFloats / (products * c.depth * c.split.width(0)));
  grid.row_ns = each * width * depth * kTransformNs;
  grid.column_ns = each * depth * rows * sizeof(float) * kByteReadNs;
  grid.times = c.slabs;
  return grid;
}

/** Output channels and numbered positions on tiles of slices, in each of `slabs` groups of images. */
struct SplitConvSize {
  int64_t slabs, channels, steps, positions;
  int64_t halo;                // positions that a band reads beyond its last one
  int64_t split;               // elements of the input that are split for a position
  int64_t words;               // of slices for a position
  int slices;
};

/** Units are kSplitColumns positions and kSplitRows channels. */
inline Grid split_conv_grid(const SplitConvSize& c, int64_t l2_bytes) {
  const auto steps = static_cast<double>(c.steps), products = static_cast<double>(c.slices * (c.slices + 1) / 2);
  const double position_ns = static_cast<double>(c.split) * kTileSplitNs;
  Grid grid{divide_up(c.positions, kSplitColumns), divide_up(c.channels, kSplitRows),
            4 * kTileProductNs * steps * products + kTileSumsNs};
  const int64_t words = std::clamp<int64_t>(l2_bytes / 2, 256 << 10, 2 << 20) / 4;  // of a band's slices
  grid.highest = std::max<int64_t>(4, (words / c.words - c.halo) / kSplitColumns);
  grid.task_ns += static_cast<double>(c.halo) * position_ns;
  grid.row_ns = kSplitColumns * position_ns;
  grid.column_ns = steps * static_cast<double>(c.slices * 2048) * kByteReadNs;
  grid.times = c.slabs;
  return grid;
}

}  // namespace ortolan::cpu::kernels
