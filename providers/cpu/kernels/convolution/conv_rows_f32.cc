// Convolution of few output channels along output rows: a band of the input is written out with its padding, and the
// product reads its rows there instead of gathering panels.
#include <algorithm>

#include "base/threads/thread_pool.h"
#include "cpu/kernels/convolution/conv_f32_kernels.h"
#include "cpu/kernels/convolution/conv_f32_weights.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/vector_f32.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/scratch.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr int64_t kBandFloats = 64 << 10;  // of the input, written out
constexpr int64_t kMostChannels = 64;      // output channels: more are worth gathering for
constexpr int64_t kFewestTaps = 4;
constexpr int64_t kLargestReach = 64;  // of pads and kernels

// One channel's part of a band of `rows` output rows.
DepthwiseLayout band_layout(ConvGeometry g, int64_t rows) {
  g.out[1] = rows;
  g.in[1] = g.pad_begin[1] = 0;
  return DepthwiseLayout(g);
}

struct Rows {
  const ConvGeometry& geometry;
  const float* x;
  const PackedConvWeights::Storage& weights;
  const ConvEpilogue& epilogue;
  float* y;
  PanelSplit split;  // of an output row
  int64_t rows_per_band;
  DepthwiseLayout layout = band_layout(geometry, rows_per_band);
  int64_t bands = (geometry.out[1] + rows_per_band - 1) / rows_per_band;
  AlignedBuffer offsets{};  // where the input of each channel and tap begins in the band

  int64_t units() const { return geometry.batch * geometry.groups * bands; }
};

struct RowsBand {
  int64_t image, group, first, last;  // output rows [first, last)
};

RowsBand band_of(const Rows& r, int64_t unit) {
  const int64_t first = unit % r.bands * r.rows_per_band, plane = unit / r.bands;
  return {plane / r.geometry.groups, plane % r.geometry.groups, first,
          std::min(r.geometry.out[1], first + r.rows_per_band)};
}

void find_offsets(Rows& r) {
  const auto& w = r.weights;
  r.offsets = AlignedBuffer(static_cast<size_t>(w.group_depth * w.taps) * sizeof(int64_t));
  auto* to = r.offsets.as<int64_t>();
  r.layout.offsets(r.geometry, to);
  for (int64_t i = w.taps; i < w.group_depth * w.taps; ++i) to[i] = to[i - w.taps] + r.layout.size();
}

void spread_band(const Rows& r, const RowsBand& b, float* to) {
  ConvGeometry g = r.geometry;
  const int64_t depth = r.weights.group_depth, in_plane = volume(g.in);
  const int64_t top = b.first * g.stride[1] - g.pad_begin[1];
  const int64_t reach = (b.last - b.first - 1) * g.stride[1] + (g.kernel[1] - 1) * g.dilation[1] + 1;
  const int64_t low = std::clamp<int64_t>(top, 0, g.in[1]), high = std::clamp(top + reach, low, g.in[1]);
  std::fill_n(to, depth * r.layout.size(), 0.0f);
  if (low == high) return;
  const float* x = r.x + (b.image * g.groups + b.group) * depth * in_plane + low * g.in[2];
  g.pad_begin[1] = low - top;
  g.in[1] = high - low;
  for (int64_t c = 0; c < depth; ++c) {
    kernels().conv_f32->spread_plane(g, x + c * in_plane, r.layout.plane(), r.layout.row(), to + c * r.layout.size());
  }
}

// One block of the sum, input channels [first, first + channels) of the group, for one output row.
void multiply_row(const Rows& r, const RowsBand& b, int64_t row, int64_t first, int64_t channels, const float* spread) {
  const auto& w = r.weights;
  const int64_t out_plane = volume(r.geometry.out), channel = b.group * w.group_rows;
  GemmBlock g;
  g.k = g.lda = channels * w.taps;
  g.a = w.block(b.group, first);
  g.b_rows = r.offsets.as<int64_t>() + first * w.taps;
  g.rows = w.group_rows;
  g.ldc = out_plane;
  g.c_scale = first > 0 || r.epilogue.residual == r.y ? 1 : 0;
  for (int64_t panel = 0; panel < r.split.count(); ++panel) {
    const int64_t column = r.split.first_column(panel);
    g.b = spread + (row - b.first) * r.layout.row() + column;
    g.columns = r.split.columns(panel);
    g.c = r.y + (b.image * r.geometry.out_channels + channel) * out_plane + row * r.geometry.out[2] + column;
    if (first + channels == w.group_depth) set_finish(r.epilogue, channel, r.y, g);
    w.kernels->block_of_rows(r.split.vectors(panel), g);
  }
}

void activate_band(const Rows& r, const RowsBand& b) {
  const int64_t out_plane = volume(r.geometry.out), width = r.geometry.out[2], rows = r.weights.group_rows;
  float* y = r.y + (b.image * r.geometry.groups + b.group) * rows * out_plane + b.first * width;
  for (int64_t i = 0; i < rows; ++i, y += out_plane) {
    unary(r.epilogue.activation, y, y, (b.last - b.first) * width);
  }
}

void run_band(const Rows& r, int64_t unit) {
  const RowsBand b = band_of(r, unit);
  const auto& w = r.weights;
  const Scratch<float> spread(w.group_depth * r.layout.size());
  spread_band(r, b, spread.data());
  for (int64_t first = 0; first < w.group_depth; first += w.channels_per_block) {
    const int64_t channels = std::min(w.channels_per_block, w.group_depth - first);
    for (int64_t row = b.first; row < b.last; ++row) multiply_row(r, b, row, first, channels, spread.data());
  }
  if (!is_clamp(r.epilogue.activation.op)) activate_band(r, b);
}

int64_t rows_that_fit(const ConvGeometry& g, int64_t depth, int degree) {
  constexpr int64_t kFewestRows = 4;
  int64_t rows = g.out[1];
  while (rows > 1 && depth * band_layout(g, rows).size() > kBandFloats) rows = (rows + 1) / 2;
  const auto units = [&] { return g.batch * g.groups * ((g.out[1] + rows - 1) / rows); };
  while (degree > 1 && rows > kFewestRows && units() < 4 * degree) rows = (rows + 1) / 2;
  return rows;
}

}  // namespace

bool suits_rows(const ConvGeometry& g, const PackedConvWeights::Storage& w) {
  if (g.kernel[0] != 1 || g.in[0] != 1 || g.out[0] != 1 || g.pad_begin[0] != 0) return false;
  if (w.taps < kFewestTaps || w.group_rows > kMostChannels) return false;
  for (int a = 1; a < 3; ++a) {
    const bool near = g.pad_begin[a] <= kLargestReach && g.kernel[a] <= kLargestReach && g.dilation[a] <= kLargestReach;
    if (!near || g.kernel[a] * g.dilation[a] > kLargestReach || g.stride[a] > 2) return false;
  }
  const PanelSplit split(g.out[2], *w.kernels);
  // Tiles of one vector wait for their weights: narrow rows are better gathered, several to a panel.
  return split.vectors(0) > 1 && 5 * g.out[2] >= 4 * split.padded() && g.in[2] <= kBandFloats &&
         g.out[2] <= kBandFloats && w.group_depth <= kBandFloats &&
         w.group_depth * band_layout(g, 1).size() <= kBandFloats;
}

void conv_rows(base::ThreadPool* pool, const ConvGeometry& g, const float* x, const PackedConvWeights::Storage& w,
               const ConvEpilogue& epilogue, float* y) {
  const int64_t rows = rows_that_fit(g, w.group_depth, pool == nullptr ? 1 : pool->degree());
  Rows r{g, x, w, epilogue, y, PanelSplit(g.out[2], *w.kernels), rows};
  find_offsets(r);
  const double products = static_cast<double>(rows * g.out[2]) * static_cast<double>(w.group_rows) *
                          static_cast<double>(w.group_depth * w.taps);
  base::parallel_for(pool, r.units(), least_items(products * multiply_ns(w.kernels->lanes)),
                     [&r](int64_t begin, int64_t end) {
                       for (int64_t unit = begin; unit < end; ++unit) run_band(r, unit);
                     });
}

}  // namespace ortolan::cpu::kernels
