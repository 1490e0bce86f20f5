// How products and convolutions of bytes are divided among threads: pure functions of shapes. Internal to this folder
// and its tests.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/kernels/convolution/conv_division.h"
#include "cpu/kernels/division/panel_split.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/quantised/gemm_int8_kernels.h"

namespace ortolan::cpu::kernels {

/** The products of tiles of 16 rows, 16 words and 16 columns, and the ends of their sums. */
inline double byte_tiles_ns(int64_t row_tiles, int64_t steps, int64_t column_tiles) {
  const auto sums = static_cast<double>(row_tiles * column_tiles);
  return sums * (static_cast<double>(steps) * kTileProductNs + kTileSumsNs / 4);
}

/** Sums of `rows` x `columns` over so many groups of 32 bits. */
inline double byte_sums_ns(const GemmInt8Kernels& kernels, int64_t rows, int64_t columns, int64_t groups) {
  if (kernels.begin != nullptr)
    return byte_tiles_ns(divide_up(rows, 16), divide_up(groups, 16), divide_up(columns, 16));
  return static_cast<double>(rows * columns * groups) * multiply_ns(kernels.lanes);
}

/** Of all units on one thread. */
inline double units_ns(const Grid& grid) {
  return static_cast<double>(grid.rows * grid.columns * grid.times) * grid.unit_ns;
}

constexpr int64_t kByteRowsNear = 128;  // of A, which stay in the caches while panels pass over them

/** Of a product of m rows; units are tile_rows of them and a panel. */
inline Grid byte_product_grid(const GemmInt8Kernels& kernels, int64_t m, int64_t groups, const PanelSplit& split) {
  const int64_t rows = std::min<int64_t>(m, kernels.tile_rows), width = split.width(0);
  const double panel_ns = static_cast<double>(width * groups) * 4 * kByteNs;
  Grid grid{divide_up(m, kernels.tile_rows), split.count(), byte_sums_ns(kernels, rows, width, groups)};
  grid.highest = std::max<int64_t>(1, kByteRowsNear / kernels.tile_rows);
  if (grid.rows == 1) grid.unit_ns = std::max(grid.unit_ns, panel_ns);
  return grid;
}

/** Whether a right operand that is not packed is packed before all tasks, since its panels are too tall or too few for
    one task each. */
inline bool packs_before(int64_t m, int64_t panels, double panel_ns, int degree) {
  return m > kByteRowsNear || (panels < 2 * degree && panel_ns >= 4 * kGoodTaskNs);
}

/** Images, or slices of them, whose words are made ready together: enough that all threads have work for longer than
    a loop's end takes, but no more than caches hold. */
inline int64_t images_at_once(int64_t images, double image_ns, int64_t image_bytes, int degree) {
  constexpr int64_t kMostBytes = 16 << 20;
  constexpr double kWorthNs = 8 * kGoodTaskNs;
  if (degree == 1) return 1;
  const auto worth = static_cast<int64_t>(degree * kWorthNs / std::max(image_ns, 1.0)) + 1;
  const int64_t fit = std::max<int64_t>(1, kMostBytes / std::max<int64_t>(image_bytes, 1));
  return even_part(images, std::min({images, worth, fit}));
}

/** A convolution whose sums run over `words` of 32 bits: for each of `slabs` groups of images, output channels and
   panels of output positions, which are gathered. */
struct WordConv {
  int64_t slabs, channels, words;
  const PanelSplit& split;
  int64_t out_row;
};

/** Units are panels and tile_rows channels. */
inline PreparedGrid word_conv_grid(const WordConv& c, const GemmInt8Kernels& kernels) {
  constexpr int64_t kGatheredWords = 32 << 10;  // stay in the second-level cache while weights pass
  constexpr double kLongestNs = 2e6;            // of a task, after which a run can be stopped
  const int64_t width = c.split.width(0), rows = std::min<int64_t>(kernels.tile_rows, c.channels);
  const double sums_ns = byte_sums_ns(kernels, 1, width, c.words);  // of a channel, or of the columns themselves
  const auto longest = static_cast<int64_t>(kLongestNs / (sums_ns * static_cast<double>(c.channels)));
  Grid grid{c.split.count(), divide_up(c.channels, rows), sums_ns * static_cast<double>(rows)};
  grid.highest = std::clamp<int64_t>(std::min(kGatheredWords / (width * c.words), longest), 1, grid.rows);
  grid.row_share += in_units(static_cast<double>(width * c.words) * 4 * kByteNs, grid);
  grid.column_share += in_units(static_cast<double>(rows * c.words) * 4 * kByteNs, grid);
  grid.times = c.slabs;
  return {grid, gather_ns(c.words, width, c.out_row) + sums_ns, 1, width * c.words * int64_t{4}};
}

/** The same on tiles, which read the image itself. Positions run on over the ends of rows. */
struct TileConvSize {
  int64_t slabs, channels, lines, positions;
  bool gathers;  // lines, for each band of positions
};

/** Units are 16 positions and 32 channels, or all of them where lines are gathered. */
inline Grid tile_conv_grid(const TileConvSize& c) {
  constexpr int64_t kPositionsNear = 384;  // whose sums stay near
  const int64_t tiles = divide_up(c.channels, 16), high = c.gathers ? tiles : std::min<int64_t>(tiles, 2);
  Grid grid{divide_up(c.positions, 16), divide_up(tiles, high), byte_tiles_ns(high, divide_up(c.lines, 16), 1)};
  grid.highest = kPositionsNear / 16;
  grid.row_share += in_units(static_cast<double>(c.lines * 16) * (4 * kByteNs + (c.gathers ? kCopyNs : 0)), grid);
  grid.column_share += in_units(static_cast<double>(high * c.lines * 64) * kByteNs, grid);
  grid.times = c.slabs;
  return grid;
}

}  // namespace ortolan::cpu::kernels
