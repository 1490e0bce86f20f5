// Pairs of convolutions: the division, and a band of rows and channels through both.
#include "cpu/kernels/convolution/conv_pair_f32.h"

#include <algorithm>

#include "base/checked.h"
#include "base/cpu_features.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/convolution/conv_division.h"
#include "cpu/kernels/convolution/conv_f32_kernels.h"
#include "cpu/kernels/convolution/conv_f32_weights.h"
#include "cpu/kernels/division/threads.h"
#include "cpu/kernels/elementwise/vector_f32.h"
#include "cpu/kernels/scratch.h"

namespace ortolan::cpu::kernels {
namespace {

/** Which part of an image a task computes. */
struct PairBand {
  int64_t image;
  int64_t first_row, rows;          // of the output
  int64_t first_channel, channels;  // of both results
};

struct Pair {
  const ConvPair& pair;
  const float* x;
  float* y;
  PairDivision division;
  DepthwiseDirect depthwise;
  const PackedConvWeights::Storage& weights = *pair.first_weights.storage();
  int64_t in_plane = volume(pair.first.in), out_plane = volume(pair.second.out);
  int64_t bands = divide_up(pair.second.out[1], division.rows);
  int64_t groups = divide_up(pair.second.out_channels, division.channels);

  int64_t tasks() const { return pair.second.batch * bands * groups; }
  PairBand band(int64_t task) const {
    const int64_t row = task / groups % bands * division.rows, channel = task % groups * division.channels;
    return {task / groups / bands, row, std::min(division.rows, pair.second.out[1] - row), channel,
            std::min(division.channels, pair.second.out_channels - channel)};
  }
};

/** The rows between that a band reads; `above` more would lie over the image. */
struct RowsBetween {
  int64_t first, count, above;
};

RowsBetween rows_between(const ConvGeometry& g, const PairBand& b) {
  const int64_t top = b.first_row * g.stride[1] - g.pad_begin[1];
  const int64_t end = top + (b.rows - 1) * g.stride[1] + g.kernel[1];
  const int64_t first = std::clamp<int64_t>(top, 0, g.in[1]);
  return {first, std::clamp(end, first, g.in[1]) - first, first - top};
}

/** Floats from a channel's values between to the next one's: not whole pages, which would meet in one set of a cache.
 */
int64_t spaced(int64_t values) {
  constexpr int64_t kLine = 16, kPage = 1024;
  const int64_t lines = divide_up(values, kLine) * kLine;
  return lines % kPage == 0 ? lines + kLine : lines;
}

constexpr int64_t kWidestPanel = 64;

/** Columns beside whole vectors that conv_dense() makes a thin panel of. */
int64_t thin_columns(int64_t columns, int lanes) {
  const int64_t over = columns % lanes;
  return over <= lanes / 4 ? over : 0;
}

/** A panel of the rows between: its columns [first, first + columns). */
struct BandPanel {
  int64_t first, columns;
  int vectors;
  bool thin;
};

/** Channels of a band and one panel, from the rows of x at `x`. Where it ends within a vector, x is copied first, as
    reading it in place could pass its end. Copying what is whole pages apart, too, took longer than reading it. */
void multiply_panel(const Pair& p, const PairBand& b, const float* x, const BandPanel& panel, int64_t spacing,
                    float* between, float* copied) {
  const auto& w = p.weights;
  const int64_t width = int64_t{panel.vectors} * w.kernels->lanes;
  GemmBlock g;
  g.rows = b.channels;
  g.columns = panel.columns;
  g.ldc = spacing;
  g.c = between + panel.first;
  for (int64_t first = 0; first < w.group_depth; first += w.channels_per_block) {
    g.k = g.lda = std::min(w.channels_per_block, w.group_depth - first);
    g.a = w.block(0, first) + b.first_channel * g.k;
    g.b = x + first * p.in_plane + panel.first;
    g.b_step = p.in_plane;
    g.c_scale = first > 0 ? 1 : 0;
    if (panel.columns < width && !panel.thin) {
      w.kernels->pack_panel(g.b, g.b_step, g.k, g.columns, width, copied);
      g.b = copied;
      g.b_step = width;
    }
    if (first + g.k == w.group_depth) set_finish(p.pair.first_epilogue, b.first_channel, between, g);
    panel.thin ? w.kernels->thin_block_packed_a(g) : w.kernels->block_packed_a(panel.vectors, g);
  }
}

/** All columns of the rows between. What is left over at the end of the plane beside whole vectors is summed as conv()
    does, that results are the same bits. */
void multiply_rows(const Pair& p, const PairBand& b, const float* x, int64_t columns, bool at_end, int64_t spacing,
                   float* between) {
  const GemmF32Kernels& kernels = *p.weights.kernels;
  const Scratch<float> copied(p.weights.channels_per_block * kWidestPanel);
  const int64_t thin = at_end ? thin_columns(p.in_plane, kernels.lanes) : 0;
  const PanelSplit split(columns - thin, kernels);
  for (int64_t i = 0; i < split.count(); ++i) {
    const BandPanel panel{split.first_column(i), split.columns(i), split.vectors(i), false};
    multiply_panel(p, b, x, panel, spacing, between, copied.data());
  }
  if (thin > 0) multiply_panel(p, b, x, {columns - thin, thin, 1, true}, spacing, between, copied.data());
}

void activate(const Activation& activation, float* values, int64_t count) {
  if (!is_clamp(activation.op)) unary(activation, values, values, count);
}

void filter_channel(const Pair& p, const PairBand& b, const RowsBetween& rows, int64_t channel, const float* between) {
  const ConvGeometry& g = p.pair.second;
  const ConvEpilogue& epilogue = p.pair.second_epilogue;
  const auto& w = *p.pair.second_weights.storage();
  const Clamp clamp = clamp_of(epilogue.activation);
  float* y = p.y + (b.image * g.out_channels + channel) * p.out_plane + b.first_row * g.out[2];
  p.depthwise({between, rows.count, g.in[2], rows.above, g.pad_begin[2], w.data.as<float>() + channel * w.taps, b.rows,
               g.out[2], epilogue.bias == nullptr ? 0 : epilogue.bias[channel], nullptr, clamp.low, clamp.high, y});
  activate(epilogue.activation, y, b.rows * g.out[2]);
}

void run_band(const Pair& p, const PairBand& b) {
  constexpr int64_t kSlack = 64;
  const ConvGeometry& g = p.pair.second;
  const RowsBetween rows = rows_between(g, b);
  const int64_t columns = rows.count * g.in[2], spacing = spaced(columns);
  const Scratch<float> between(b.channels * spacing + kSlack);
  const float* x = p.x + b.image * p.pair.first.in_channels * p.in_plane + rows.first * g.in[2];
  const bool at_end = rows.count > 0 && rows.first + rows.count == g.in[1];
  multiply_rows(p, b, x, columns, at_end, spacing, between.data());
  for (int64_t i = 0; i < b.channels; ++i) {
    float* values = between.data() + i * spacing;
    activate(p.pair.first_epilogue.activation, values, columns);
    filter_channel(p, b, rows, b.first_channel + i, values);
  }
}

PairDivision division_of(const ConvPair& pair, int degree) {
  const auto& w = *pair.first_weights.storage();
  const ConvGeometry &a = pair.first, &b = pair.second;
  if (w.tiles != nullptr || w.winograd || w.depthwise) return {};
  const GemmF32Kernels& k = *w.kernels;
  if (k.max_vectors * k.lanes > kWidestPanel || b.in[2] < k.lanes) return {};
  return divide_pair({b.batch, a.in_channels, b.out_channels, b.in[1], b.in[2], b.out[1], b.out[2], b.kernel[1],
                      b.stride[1], k.tile_rows, k.lanes},
                     base::cpu_features().l2_bytes, degree);
}

}  // namespace

void conv_pair(base::ThreadPool* pool, const ConvPair& pair, const float* x,
               base::FunctionRef<float*(int64_t floats)> between, float* y) {
  if (pair.second.batch * pair.second.out_channels * volume(pair.second.out) == 0) return;
  // Of a single channel, weights are packed as others are.
  const bool is_depthwise = pair.second_weights.storage()->depthwise;
  const DepthwiseDirect depthwise = is_depthwise ? direct_depthwise(pair.second) : nullptr;
  const PairDivision division = depthwise == nullptr ? PairDivision{} : division_of(pair, threads_of(pool));
  if (division.is_apart()) {
    const int64_t planes = base::checked_mul(pair.second.batch, pair.second.in_channels);
    float* values = between(base::checked_mul(planes, volume(pair.second.in)));
    conv(pool, pair.first, x, pair.first_weights, pair.first_epilogue, values);
    conv(pool, pair.second, values, pair.second_weights, pair.second_epilogue, y);
    return;
  }
  const Pair p{pair, x, y, division, depthwise};
  base::parallel_for(pool, p.tasks(), 1, [&p](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) run_band(p, p.band(task));
  });
}

}  // namespace ortolan::cpu::kernels
