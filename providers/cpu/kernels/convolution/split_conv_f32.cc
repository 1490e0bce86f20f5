// fp32 convolution on tiles: which positions are done at once, and what is done where tiles are not exact.
#include "cpu/kernels/convolution/split_conv_f32.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <vector>

#include "base/cpu_features.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/convolution/conv_division.h"
#include "cpu/kernels/convolution/conv_f32_weights.h"
#include "cpu/kernels/convolution/split_conv_f32_kernels.h"
#include "cpu/kernels/convolution/split_conv_positions.h"
#include "cpu/kernels/division/threads.h"
#include "cpu/kernels/elementwise/vector_f32.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/scratch.h"
#include "cpu/kernels/vectors/lengths.h"
#include "cpu/kernels/vectors/unaligned.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr uint32_t kLeastMaximum = 0x30800000;  // 2^-30
constexpr uint32_t kMostMaximum = 0x4e800000;   // 2^30
constexpr int64_t kActivatedFloats = 64 << 10;  // sums that stay near until they are activated
constexpr int64_t kBlocksAtOnce = 4;            // of positions, of each pair of channels that are split

struct SplitConv {
  const ConvGeometry& g;
  const SplitConvWeights& weights;
  const float* x;
  const ConvEpilogue& epilogue;
  float* y;
  const SplitConvKernels& kernels;
  ConvPositions positions;
  int64_t in_plane, out_plane;  // elements from one channel to the next
  int64_t channel_blocks;
  // The work: positions [band*band_positions, ...) by rows [part*part_rows, ...).
  PreparedDivision division;  // bands down, parts across
  int64_t band_positions, part_rows;
  // The split planes of a band, in words; see SplitPlanes.
  int64_t block_step, slice_step, pair_step;
  std::vector<int64_t> offsets;               // of each step
  std::vector<std::atomic<uint32_t>> maxima;  // of each group of each image
  Scratch<uint32_t> all_planes{};             // of all bands, where these are split before all else
};

SplitConvSize size_of(const SplitConv& c) {
  const SplitConvWeights& w = c.weights;
  const int64_t phases = static_cast<int64_t>(c.positions.phases.size()), depth = c.channel_blocks * kSplitStep;
  return {c.g.batch * c.g.groups * c.g.out[0],
          w.group_rows,
          c.positions.count,
          w.steps,
          w.taps,
          c.positions.halo,
          depth * phases,
          depth / 2 * phases * w.slices,
          w.slices};
}

// A dense band's blocks of positions lie one after the other, so that tiles are whole. Else the planes of a band lie
// one after the other, an odd number of cache lines apart, so that a tile's rows are in different sets.
void lay_out(SplitConv& c) {
  const ConvPositions& p = c.positions;
  const int64_t phases = static_cast<int64_t>(p.phases.size());
  const int64_t rows = (c.band_positions + p.halo) / p.pitch + 2;
  c.pair_step = p.dense ? kSplitColumns : round_up(rows * p.pitch + kSplitColumns, 32) + 16;
  c.slice_step = kSplitPairs * c.pair_step;
  c.block_step = phases * c.weights.slices * c.slice_step;
  for (int64_t block = 0; block < c.channel_blocks; ++block) {
    for (const ConvTap& tap : p.taps) {
      const int64_t word = block * c.block_step + tap.phase * c.weights.slices * c.slice_step + tap.shift;
      c.offsets.push_back(word * static_cast<int64_t>(sizeof(uint32_t)));
    }
  }
}

// A piece of the work: a slab is a group of an image, at one depth.
struct Unit {
  int64_t slab, image, group, depth, band, part;
};

Unit unit_of(const SplitConv& c, int64_t i) {
  Unit u;
  const GridDivision& d = c.division.grid;
  u.slab = i / d.tasks();
  u.part = i % d.across;
  u.band = i / d.across % d.down;
  i = u.slab;
  u.depth = i % c.g.out[0];
  i /= c.g.out[0];
  u.group = i % c.g.groups;
  u.image = i / c.g.groups;
  return u;
}

// The split planes of a band and which of its positions are outputs.
struct SplitConvBand {
  int64_t first, positions;
  uint32_t* room;      // of the planes
  const char* planes;  // at the first position
  int64_t block_bytes;
  Scratch<uint32_t> own_planes;  // where it alone uses them
  Scratch<SplitConvColumns> columns;
};

int64_t band_words(const SplitConv& c) {
  const int64_t blocks = c.positions.dense ? c.band_positions / kSplitColumns : 1;
  return blocks * c.channel_blocks * c.block_step + 64;
}

void set_planes_room(const SplitConv& c, const Unit& u, SplitConvBand& band) {
  if (c.division.together) {
    band.room = c.all_planes.data() + (u.slab * c.division.grid.down + u.band) * band_words(c);
    return;
  }
  band.own_planes = Scratch<uint32_t>(band_words(c));
  band.room = band.own_planes.data();
}

// What all planes of a band have in common: the input of the unit's group at its depth, without rows where that is
// outside the input; channels from `first` on.
SplitPlanes planes_of(const SplitConv& c, const Unit& u, int64_t first, int64_t channels) {
  SplitPlanes p;
  const int64_t depth = u.depth * c.g.stride[0] - c.g.pad_begin[0];
  const bool inside = depth >= 0 && depth < c.g.in[0];
  p.slices = c.weights.slices;
  p.x = c.x + ((u.image * c.g.groups + u.group) * c.weights.group_depth + first) * c.in_plane;
  if (inside) p.x += depth * plane_of(c.g.in);
  p.channels = channels;
  p.channel_step = c.in_plane;
  p.in_h = inside ? c.g.in[1] : 0;
  p.in_w = p.in_row = c.g.in[2];
  p.block_step = c.block_step;
  p.slice_step = c.slice_step;
  p.pair_step = c.pair_step;
  return p;
}

// Blocks of positions are the rows of a plane that is as wide as a block.
uint32_t split_dense(const SplitConv& c, SplitPlanes p, const SplitConvBand& band, uint32_t* to) {
  constexpr SplitPhase kWhole = {0, 0, 0};
  const bool inside = p.in_h > 0;
  const int64_t whole = band.positions / kSplitColumns, left = band.positions % kSplitColumns;
  p.x += band.first;
  p.to = to;
  p.phases = &kWhole;
  p.phase_count = p.step_h = p.step_w = 1;
  p.in_row = p.in_w = p.columns = kSplitColumns;
  p.row_step = c.channel_blocks * c.block_step;
  p.rows_at_once = kBlocksAtOnce;
  p.ahead = kBlocksAtOnce * kSplitColumns;
  p.rows = whole;
  p.in_h = inside ? whole : 0;
  const uint32_t largest = whole > 0 ? c.kernels.split(p) : 0;
  if (left == 0) return largest;
  p.x += whole * kSplitColumns;
  p.to += whole * p.row_step;
  p.in_w = left;
  p.rows = 1;
  p.in_h = inside ? 1 : 0;
  return std::max(largest, c.kernels.split(p));
}

uint32_t split_phases(const SplitConv& c, SplitPlanes p, const SplitConvBand& band, uint32_t* to) {
  const ConvPositions& at = c.positions;
  const int64_t first_row = band.first / at.pitch;
  std::vector<SplitPhase> phases;
  for (const ConvPhase& phase : at.phases) {
    const int64_t word = static_cast<int64_t>(phases.size()) * c.weights.slices * c.slice_step;
    phases.push_back({first_row * c.g.stride[1] + phase.h - c.g.pad_begin[1], phase.w - c.g.pad_begin[2], word});
  }
  p.to = to;
  p.phases = phases.data();
  p.phase_count = static_cast<int64_t>(phases.size());
  p.rows = p.rows_at_once = (band.first + band.positions - 1 + at.halo) / at.pitch - first_row + 1;
  p.columns = p.row_step = at.pitch;
  p.step_h = c.g.stride[1];
  p.step_w = c.g.stride[2];
  p.ahead = 2 * c.in_plane;
  return c.kernels.split(p);
}

void find_columns(const SplitConv& c, const SplitConvBand& band, SplitConvColumns* columns) {
  const int64_t pitch = c.positions.pitch, width = c.positions.dense ? pitch : c.g.out[2];
  int64_t row = band.first / pitch, column = band.first % pitch;
  const int64_t end = round_up(band.positions, kSplitColumns);
  for (int64_t at = 0; at < end; at += 16, ++columns) {
    *columns = {row * width + std::min(column, width), 0, 0};
    for (int64_t i = at; i < at + 16; ++i) {
      if (column < width && i < band.positions) {
        columns->lanes = static_cast<uint16_t>(columns->lanes | 1 << (i - at));
        ++columns->count;
      }
      if (++column == pitch) column = 0, ++row;
    }
  }
}

SplitConvBand band_of(const SplitConv& c, const Unit& u) {
  SplitConvBand band;
  band.first = u.band * c.band_positions;
  band.positions = std::min(c.band_positions, c.positions.count - band.first);
  const int64_t word = sizeof(uint32_t), skipped = c.positions.dense ? 0 : band.first % c.positions.pitch;
  set_planes_room(c, u, band);
  band.planes = reinterpret_cast<const char*>(band.room + skipped);
  band.block_bytes = (c.positions.dense ? c.channel_blocks * c.block_step : kSplitColumns) * word;
  band.columns = Scratch<SplitConvColumns>(c.band_positions / 16 + 2);
  find_columns(c, band, band.columns.data());
  return band;
}

// Blocks [first, last) of channels.
void split_band(SplitConv& c, const Unit& u, const SplitConvBand& band, int64_t first, int64_t last) {
  const int64_t channel = first * kSplitStep, end = std::min(last * kSplitStep, c.weights.group_depth);
  const SplitPlanes p = planes_of(c, u, channel, end - channel);
  uint32_t* to = band.room + first * c.block_step;
  const uint32_t largest = c.positions.dense ? split_dense(c, p, band, to) : split_phases(c, p, band, to);
  std::atomic<uint32_t>& maximum = c.maxima[u.image * c.g.groups + u.group];
  uint32_t before = maximum.load(std::memory_order_relaxed);
  while (before < largest && !maximum.compare_exchange_weak(before, largest, std::memory_order_relaxed)) {
  }
}

// Each block of channels of each band alone.
void split_all(base::ThreadPool* pool, SplitConv& c, double piece_ns) {
  const GridDivision& d = c.division.grid;
  const int64_t bands = c.g.batch * c.g.groups * c.g.out[0] * d.down, blocks = c.channel_blocks;
  c.all_planes = Scratch<uint32_t>(bands * band_words(c));
  base::parallel_for(pool, bands * blocks, least_items(piece_ns), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Unit u = unit_of(c, i / blocks * d.across);
      split_band(c, u, band_of(c, u), i % blocks, i % blocks + 1);
    }
  });
}

// The product of a band and no rows yet. `sums`: 2 * kSplitRows * kSplitColumns floats.
SplitConvProduct product_of(const SplitConv& c, const SplitConvBand& band, float* sums) {
  SplitConvProduct p;
  const Activation& activation = c.epilogue.activation;
  p.slices = c.weights.slices;
  p.weights_end = c.weights.tiles.as<char>() + c.weights.tiles.bytes();
  p.steps = c.weights.steps;
  p.steps_at_once = c.weights.steps_at_once;
  p.offsets = c.offsets.data();
  p.planes = band.planes;
  p.block_bytes = band.block_bytes;
  p.slice_bytes = c.slice_step * static_cast<int64_t>(sizeof(uint32_t));
  p.pair_bytes = c.pair_step * static_cast<int64_t>(sizeof(uint32_t));
  p.positions = band.positions;
  p.columns = band.columns.data();
  p.y_step = c.out_plane;
  p.add_to_y = c.epilogue.residual == c.y;
  const Clamp clamp = clamp_of(activation);
  p.clamp = activation.op == UnaryOp::kRelu || activation.op == UnaryOp::kClip;
  p.low = clamp.low;
  p.high = clamp.high;
  p.sums = sums;
  return p;
}

// Rows [row, row + rows) of the unit's group.
void multiply_rows(const SplitConv& c, const Unit& u, int64_t row, int64_t rows, SplitConvProduct p) {
  const int64_t channel = u.group * c.weights.group_rows + row;
  const int64_t at = (u.image * c.g.out_channels + channel) * c.out_plane + u.depth * plane_of(c.g.out);
  p.rows = rows;
  p.weights = c.weights.group(u.group) + row / kSplitRows * c.weights.row_block_bytes();
  p.y = c.y + at;
  p.bias = c.epilogue.bias == nullptr ? nullptr : c.epilogue.bias + channel;
  p.residual = c.epilogue.residual == nullptr || p.add_to_y ? nullptr : c.epilogue.residual + at;
  c.kernels.multiply(p);
  if (is_clamp(c.epilogue.activation.op)) return;
  const SplitConvColumns& last = p.columns[(p.positions - 1) / 16];
  const int64_t first = p.columns[0].first, count = last.first + last.count - first;
  for (int64_t r = 0; r < rows; ++r) {
    float* y = p.y + r * c.out_plane + first;
    unary(c.epilogue.activation, y, y, count);
  }
}

void run_unit(const SplitConv& c, const Unit& u, const SplitConvBand& band) {
  const int64_t end = std::min(c.weights.group_rows, (u.part + 1) * c.part_rows);
  const int64_t near = std::max(kSplitRows, kActivatedFloats / band.positions / kSplitRows * kSplitRows);
  const int64_t step = is_clamp(c.epilogue.activation.op) ? c.part_rows : near;
  const Scratch<float> sums(2 * kSplitRows * kSplitColumns);
  const SplitConvProduct product = product_of(c, band, sums.data());
  for (int64_t row = u.part * c.part_rows; row < end; row += step) {
    multiply_rows(c, u, row, std::min(step, end - row), product);
  }
}

void run_units(SplitConv& c, int64_t begin, int64_t end) {
  SplitConvBand band = {};
  for (int64_t i = begin; i < end; ++i) {
    const Unit u = unit_of(c, i);
    if (i == begin || u.part == 0) {
      band = band_of(c, u);
      if (!c.division.together) split_band(c, u, band, 0, c.channel_blocks);
    }
    run_unit(c, u, band);
  }
}

bool in_range(uint32_t maximum) { return maximum == 0 || (maximum >= kLeastMaximum && maximum <= kMostMaximum); }

uint32_t largest_magnitude(const float* x, int64_t n) {
  uint32_t largest = 0;
  for (int64_t i = 0; i < n; ++i)
    largest = std::max(largest, std::bit_cast<uint32_t>(read_unaligned(x + i)) & 0x7fffffff);
  return largest;
}

// A group of an image by fp32 arithmetic.
void conv_plainly(base::ThreadPool* pool, const SplitConv& c, int64_t image, int64_t group) {
  const SplitConvWeights& w = c.weights;
  ConvGeometry g = c.g;
  g.batch = g.groups = 1;
  g.in_channels = w.group_depth;
  g.out_channels = w.group_rows;
  AlignedBuffer plain(static_cast<size_t>(w.group_rows * w.group_depth * w.taps) * sizeof(float));
  unpack_split_conv(w, group, plain.as<float>());
  const int64_t at = (image * c.g.groups + group) * w.group_rows * c.out_plane;
  ConvEpilogue epilogue = c.epilogue;
  if (epilogue.bias != nullptr) epilogue.bias += group * w.group_rows;
  if (epilogue.residual != nullptr) epilogue.residual += at;
  const float* x = c.x + (image * c.g.groups + group) * w.group_depth * c.in_plane;
  conv(pool, g, x, pack_conv_weights(pool, g, plain.as<float>(), {.slices = 0, .winograd = false}), epilogue, c.y + at);
}

void conv_all_plainly(base::ThreadPool* pool, const SplitConv& c) {
  for (int64_t i = 0; i < c.g.batch * c.g.groups; ++i) conv_plainly(pool, c, i / c.g.groups, i % c.g.groups);
}

}  // namespace

void conv_split(base::ThreadPool* pool, const ConvGeometry& g, const float* x, const SplitConvWeights& w,
                const ConvEpilogue& epilogue, float* y) {
  const bool spread = too_spread(g);
  SplitConv c{g, w, x, epilogue, y, *kernels().split_conv, spread ? ConvPositions(ConvGeometry{}) : ConvPositions(g)};
  c.in_plane = g.in[0] * plane_of(g.in);
  c.out_plane = g.out[0] * plane_of(g.out);
  c.channel_blocks = (w.group_depth + kSplitStep - 1) / kSplitStep;
  c.maxima = std::vector<std::atomic<uint32_t>>(static_cast<size_t>(g.batch * g.groups));
  const bool overwrites = epilogue.residual == y;  // so that nothing can be done again
  if (spread || (overwrites && !in_range(largest_magnitude(x, g.batch * g.in_channels * c.in_plane)))) {
    return conv_all_plainly(pool, c);
  }
  const PreparedGrid grid = split_conv_grid(size_of(c), base::cpu_features().l2_bytes);
  c.division = divide_prepared(grid, threads_of(pool));
  const GridDivision& d = c.division.grid;
  c.band_positions = d.height * kSplitColumns;
  c.part_rows = d.width * kSplitRows;
  lay_out(c);
  const double piece_ns = grid.prepare_ns * static_cast<double>(d.height) / static_cast<double>(grid.pieces);
  if (c.division.together) split_all(pool, c, piece_ns);
  base::parallel_for(pool, grid.grid.times * d.tasks(), c.division.grain,
                     [&c](int64_t begin, int64_t end) { run_units(c, begin, end); });
  for (int64_t i = 0; i < g.batch * g.groups; ++i) {
    if (!overwrites && !in_range(c.maxima[i])) conv_plainly(pool, c, i / g.groups, i % g.groups);
  }
}

}  // namespace ortolan::cpu::kernels
