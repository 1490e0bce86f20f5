// fp32 convolution: weights times gathered input panels.
#include "cpu/kernels/convolution/conv_f32.h"

#include <algorithm>

#include "base/threads/thread_pool.h"
#include "cpu/kernels/convolution/conv_division.h"
#include "cpu/kernels/convolution/conv_f32_kernels.h"
#include "cpu/kernels/convolution/conv_f32_weights.h"
#include "cpu/kernels/convolution/winograd_f32.h"
#include "cpu/kernels/division/threads.h"
#include "cpu/kernels/elementwise/vector_f32.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/products/gemm_f32_kernels.h"
#include "cpu/kernels/scratch.h"

namespace ortolan::cpu::kernels {

int64_t find_runs(const ConvGeometry& g, int64_t first, int64_t count, ColumnRun* runs) {
  int64_t found = 0;
  for (int64_t at = 0; at < count;) {
    const int64_t out = first + at, w = out % g.out[2];
    runs[found] = {at, std::min(count - at, g.out[2] - w), {out / (g.out[2] * g.out[1]), out / g.out[2] % g.out[1], w}};
    at += runs[found++].count;
  }
  return found;
}

namespace {

constexpr int64_t kBandTiles = 8;  // register tiles of weights that stay near while panels pass

struct Conv {
  const ConvGeometry& geometry;
  const float* x;
  const PackedConvWeights::Storage& weights;
  const ConvEpilogue& epilogue;
  float* y;
  const ConvF32Kernels& kernels;
  PanelSplit split;
  bool pointwise;  // panels are the input itself
  bool in_place;   // and are read where they lie
  bool far;        // in memory that the cache does not hold
  PanelConv size{geometry.batch * geometry.groups, weights.group_rows,        weights.group_depth* weights.taps, split,
                 weights.kernels->lanes,           weights.kernels->tile_rows};
  PreparedDivision division{};
  Scratch<float> gathered{};  // all panels of each slab's blocks of the sums, where they are gathered before all else

  // A panel that ends within a vector is gathered: reading it in place would pass the end of the input.
  bool gathers(int64_t panel) const {
    return !in_place || (split.columns(panel) < split.width(panel) && !split.thin(panel));
  }
  int64_t blocks() const { return divide_up(weights.group_depth, weights.channels_per_block); }
  float* gathered_at(int64_t slab, int64_t first, int64_t channels, int64_t panel) const {
    const int64_t columns = (slab * weights.group_depth + first) * split.padded();
    return gathered.data() + (columns + channels * split.first_column(panel)) * weights.taps;
  }
  const float* slab_input(int64_t slab) const { return x + slab * weights.group_depth * volume(geometry.in); }
};

void gather(const Conv& c, const float* x, int64_t channels, int64_t panel, float* to) {
  const int64_t first = c.split.first_column(panel), columns = c.split.columns(panel), width = c.split.width(panel);
  if (c.pointwise) {
    c.weights.kernels->pack_panel(x + first, volume(c.geometry.in), channels, columns, width, to);
    return;
  }
  ColumnRun runs[kMostRuns];
  const int64_t count = find_runs(c.geometry, first, columns, runs);
  c.kernels.gather_panel(c.geometry, x, channels, runs, count, columns, width, to);
}

struct Band {
  int64_t image, group, first_panel, last_panel, first_row, last_row;
};

Band band_of(const Conv& c, int64_t unit) {
  Band b;
  const GridDivision& d = c.division.grid;
  const int64_t rows = d.width * c.size.tile_rows, slab = unit / d.tasks(), panels = unit / d.across % d.down;
  b.group = slab % c.geometry.groups;
  b.image = slab / c.geometry.groups;
  b.first_panel = panels * d.height;
  b.last_panel = panels + 1 == d.down ? c.split.count() : b.first_panel + d.height;
  b.first_row = unit % d.across * rows;
  b.last_row = std::min(c.weights.group_rows, b.first_row + rows);
  return b;
}

// One block of the sum (input channels [first, first + channels) of the group, from x on) for all rows and panels of a
// band.
void multiply_block(const Conv& c, const Band& b, const float* x, const float* columns, int64_t first,
                    int64_t channels) {
  const auto& w = c.weights;
  const int64_t out_plane = volume(c.geometry.out), step = kBandTiles * w.kernels->tile_rows;
  GemmBlock g;
  g.k = channels * w.taps;
  g.lda = g.k;
  g.ldc = out_plane;
  g.c_scale = first > 0 || c.epilogue.residual == c.y ? 1 : 0;
  const bool last = first + channels == w.group_depth;
  for (int64_t row = b.first_row; row < b.last_row; row += step) {
    const float* panel_data = columns;
    g.rows = std::min(step, b.last_row - row);
    g.a = w.block(b.group, first) + row * g.k;
    for (int64_t panel = b.first_panel; panel < b.last_panel; ++panel) {
      g.b = c.gathers(panel) ? panel_data : x + c.split.first_column(panel);
      g.b_step = c.gathers(panel) ? c.split.width(panel) : volume(c.geometry.in);
      g.columns = c.split.columns(panel);
      g.panel_beside = c.far && row == b.first_row && panel + 1 < c.split.count();
      g.c = c.y + ((b.image * c.geometry.groups + b.group) * w.group_rows + row) * out_plane +
            c.split.first_column(panel);
      if (last) set_finish(c.epilogue, b.group * w.group_rows + row, c.y, g);
      if (c.split.thin(panel)) {
        w.kernels->thin_block_packed_a(g);
      } else {
        w.kernels->block_packed_a(c.split.vectors(panel), g);
      }
      panel_data += c.split.width(panel) * g.k;
    }
  }
}

void activate_band(const Conv& c, const Band& b) {
  const int64_t out_plane = volume(c.geometry.out), first = c.split.first_column(b.first_panel);
  const int64_t end = c.split.first_column(b.last_panel - 1) + c.split.columns(b.last_panel - 1);
  for (int64_t row = b.first_row; row < b.last_row; ++row) {
    float* y = c.y + ((b.image * c.geometry.groups + b.group) * c.weights.group_rows + row) * out_plane + first;
    unary(c.epilogue.activation, y, y, end - first);
  }
}

// All blocks of the sums of a band, from the panels that `columns_of(first channel, channels)` has ready.
template <class Columns>
void multiply_band(const Conv& c, const Band& b, Columns columns_of) {
  const auto& w = c.weights;
  const float* x = c.slab_input(b.image * c.geometry.groups + b.group);
  for (int64_t first = 0; first < w.group_depth; first += w.channels_per_block) {
    const int64_t channels = std::min(w.channels_per_block, w.group_depth - first);
    multiply_block(c, b, x + first * volume(c.geometry.in), columns_of(first, channels), first, channels);
  }
  if (!is_clamp(c.epilogue.activation.op)) activate_band(c, b);
}

void run_band(const Conv& c, int64_t unit) {
  const Band b = band_of(c, unit);
  const auto& w = c.weights;
  const int64_t in_plane = volume(c.geometry.in), slab = b.image * c.geometry.groups + b.group;
  if (c.gathered.data() != nullptr) {
    return multiply_band(
        c, b, [&](int64_t first, int64_t channels) { return c.gathered_at(slab, first, channels, b.first_panel); });
  }
  const int64_t width =
      c.split.first_column(b.last_panel - 1) + c.split.width(b.last_panel - 1) - c.split.first_column(b.first_panel);
  const Scratch<float> columns(w.channels_per_block * w.taps * width + 4096);
  multiply_band(c, b, [&](int64_t first, int64_t channels) {
    float* to = columns.data();
    for (int64_t panel = b.first_panel; panel < b.last_panel; ++panel) {
      if (c.gathers(panel)) gather(c, c.slab_input(slab) + first * in_plane, channels, panel, to);
      to += channels * w.taps * c.split.width(panel);
    }
    return columns.data();
  });
}

// Every panel once, those of each block of the sums alone.
void gather_all(base::ThreadPool* pool, Conv& c) {
  constexpr int64_t kSlack = 4096;
  const auto& w = c.weights;
  const int64_t panels = c.split.count(), blocks = c.blocks(), depth = w.group_depth * w.taps;
  c.gathered = Scratch<float>(c.size.slabs * depth * c.split.padded() + kSlack);
  const double piece_ns = gather_ns(w.channels_per_block * w.taps, c.split.width(0), c.geometry.out[2]);
  base::parallel_for(pool, c.size.slabs * blocks * panels, least_items(piece_ns), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t panel = i % panels, first = i / panels % blocks * w.channels_per_block, slab = i / panels / blocks;
      const int64_t channels = std::min(w.channels_per_block, w.group_depth - first);
      const float* x = c.slab_input(slab) + first * volume(c.geometry.in);
      if (c.gathers(panel)) gather(c, x, channels, panel, c.gathered_at(slab, first, channels, panel));
    }
  });
}

bool exceeds_cache(const ConvGeometry& g) {
  constexpr int64_t kCacheFloats = 192 << 10;
  return g.in_channels * volume(g.in) > kCacheFloats;
}

// Rows of the input that are whole pages apart fall into one set of the nearest cache; few passes over them bear that.
bool suits_in_place(const ConvGeometry& g, const PackedConvWeights::Storage& w) {
  constexpr int64_t kPageFloats = 1024, kFewTiles = 4;
  return volume(g.in) % kPageFloats != 0 || w.group_rows <= kFewTiles * w.kernels->tile_rows;
}

void conv_dense(base::ThreadPool* pool, const ConvGeometry& g, const float* x, const PackedConvWeights::Storage& w,
                const ConvEpilogue& epilogue, float* y) {
  bool pointwise = true;
  for (int i = 0; i < 3; ++i) {
    pointwise = pointwise && g.kernel[i] == 1 && g.stride[i] == 1 && g.pad_begin[i] == 0 && g.in[i] == g.out[i];
  }
  const bool in_place = pointwise && suits_in_place(g, w);
  const PanelSplit split(volume(g.out), *w.kernels, w.kernels->lanes / 4);
  Conv c{g, x, w, epilogue, y, *kernels().conv_f32, split, pointwise, in_place, in_place && exceeds_cache(g)};
  const PreparedGrid grid = direct_conv_grid(c.size, !in_place, g.out[2], c.blocks());
  c.division = divide_prepared(grid, threads_of(pool));
  if (c.division.together) gather_all(pool, c);
  base::parallel_for(pool, c.size.slabs * c.division.grid.tasks(), c.division.grain, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) run_band(c, unit);
  });
}

bool has_slices(const ConvGeometry& g) { return g.in[0] != 1 || g.out[0] != 1 || g.pad_begin[0] != 0; }

// Copies one slice of each plane: `planes` of them, `slices` slices of `size` elements each.
void gather_slices(const float* from, int64_t planes, int64_t slices, int64_t size, float* to) {
  for (int64_t p = 0; p < planes; ++p) std::copy_n(from + p * slices * size, size, to + p * size);
}

// Where weights reach over one slice only, each slice is a plane of its own. Kernels of planes take them one after the
// other.
void conv_slices(base::ThreadPool* pool, const ConvGeometry& g, const float* x, const PackedConvWeights& weights,
                 const ConvEpilogue& epilogue, float* y) {
  ConvGeometry flat = g;
  flat.batch = flat.in[0] = flat.out[0] = 1;
  flat.pad_begin[0] = 0;
  const int64_t in = volume(flat.in), out = volume(flat.out);
  AlignedBuffer from(static_cast<size_t>(g.in_channels * in) * sizeof(float));
  AlignedBuffer to(static_cast<size_t>(g.out_channels * out) * sizeof(float));
  ConvEpilogue flat_epilogue = epilogue;
  if (epilogue.residual != nullptr) flat_epilogue.residual = to.as<float>();
  for (int64_t i = 0; i < g.batch * g.out[0]; ++i) {
    const int64_t image = i / g.out[0], slice = i % g.out[0], depth = slice - g.pad_begin[0];
    const int64_t first = (image * g.out_channels * g.out[0] + slice) * out;
    if (depth >= 0 && depth < g.in[0]) {
      gather_slices(x + (image * g.in_channels * g.in[0] + depth) * in, g.in_channels, g.in[0], in, from.as<float>());
    } else {
      std::fill_n(from.as<float>(), g.in_channels * in, 0.0f);
    }
    if (epilogue.residual != nullptr) {
      gather_slices(epilogue.residual + first, g.out_channels, g.out[0], out, to.as<float>());
    }
    conv(pool, flat, from.as<float>(), weights, flat_epilogue, to.as<float>());
    for (int64_t c = 0; c < g.out_channels; ++c) {
      std::copy_n(to.as<float>() + c * out, out, y + first + c * g.out[0] * out);
    }
  }
}

}  // namespace

void set_finish(const ConvEpilogue& epilogue, int64_t channel, const float* y, GemmBlock& g) {
  if (epilogue.bias != nullptr) g.row_bias = epilogue.bias + channel;
  if (epilogue.residual != nullptr && epilogue.residual != y) {
    g.residual = epilogue.residual + (g.c - y);
    g.residual_stride = g.ldc;
  }
  const UnaryOp op = epilogue.activation.op;
  if (op != UnaryOp::kRelu && op != UnaryOp::kClip) return;
  const Clamp clamp = clamp_of(epilogue.activation);
  g.clamp = true;
  g.low = clamp.low;
  g.high = clamp.high;
}

namespace {

// Images of one column are images of one row, which are read and written along it.
ConvGeometry laid_along_rows(ConvGeometry g) {
  for (int turn = 0; turn < 2 && g.in[2] == 1 && g.out[2] == 1 && g.kernel[2] == 1; ++turn) {
    for (auto* sizes : {&g.in, &g.out, &g.kernel, &g.stride, &g.dilation, &g.pad_begin}) {
      std::rotate(*sizes, *sizes + 2, *sizes + 3);
    }
  }
  return g;
}

}  // namespace

void conv(base::ThreadPool* pool, const ConvGeometry& given, const float* x, const PackedConvWeights& weights,
          const ConvEpilogue& epilogue, float* y) {
  const auto& w = *weights.storage();
  if (given.batch * given.out_channels * volume(given.out) == 0) return;
  const ConvGeometry g = w.winograd || w.depthwise ? given : laid_along_rows(given);
  if (w.tiles != nullptr) {
    conv_split(pool, g, x, *w.tiles, epilogue, y);
  } else if ((w.winograd || w.depthwise) && has_slices(g)) {
    conv_slices(pool, g, x, weights, epilogue, y);
  } else if (w.winograd) {
    conv_winograd(pool, g, x, w.data.as<float>(), *w.kernels, epilogue, y);
  } else if (w.depthwise) {
    conv_depthwise(pool, g, x, w, epilogue, y);
  } else if (suits_rows(g, w)) {
    conv_rows(pool, g, x, w, epilogue, y);
  } else {
    conv_dense(pool, g, x, w, epilogue, y);
  }
}

}  // namespace ortolan::cpu::kernels
