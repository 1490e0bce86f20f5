// Convolution of bytes: weights times gathered panels of bytes, exact, with zero points and requantisation.
#include "cpu/kernels/convolution_int8/conv_int8.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "base/threads/thread_pool.h"
#include "cpu/kernels/convolution/conv_f32_kernels.h"
#include "cpu/kernels/convolution_int8/conv_int8_tiles.h"
#include "cpu/kernels/convolution_int8/conv_int8_weights.h"
#include "cpu/kernels/convolution_int8/conv_int8_words.h"
#include "cpu/kernels/division/threads.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/quantised/gemm_int8_kernels.h"
#include "cpu/kernels/quantised/int8_division.h"
#include "cpu/kernels/scratch.h"
#include "cpu/kernels/vectors/lengths.h"

namespace ortolan::cpu::kernels {

namespace {

constexpr int64_t kRowsAtOnce = 48;       // channels whose weights stay near while panels pass, about
constexpr double kPlaneElementNs = 0.06;  // of a depthwise plane: widening an element, one of its products, its byte

// The geometry of the same convolution over an input whose padding is written out, one channel a word.
ConvGeometry padded_geometry(const ConvGeometry& g, int64_t channel_words) {
  check_padding(g);
  ConvGeometry padded = g;
  padded.in_channels = channel_words;
  for (int a = 0; a < 3; ++a) {
    const int64_t reach = (g.out[a] - 1) * g.stride[a] + (g.kernel[a] - 1) * g.dilation[a] + 1;
    padded.in[a] = std::max(reach, g.in[a] + g.pad_begin[a]);
    padded.pad_begin[a] = 0;
  }
  return padded;
}

// Some images of a batch at a time.
struct ConvJob {
  const ConvGeometry& g;
  ConvGeometry padded;
  const ConvInt8& operands;
  const PackedConvWeightsInt8::Storage& w;
  PanelSplit split;
  int32_t x_zero;                // after the shift
  std::vector<int32_t> w_zeros;  // of every output channel, after the shift
  bool needs_column_sums;
  int64_t first_image = 0, images = 0;
  PreparedDivision division{};
  Scratch<int32_t> words{};     // of these images
  Scratch<int32_t> gathered{};  // all their panels and then the sums of the columns, where tasks share them

  int64_t slabs() const { return images * g.groups; }
  int64_t slab_words() const { return w.channel_words() * volume(padded.in); }
  int32_t* panel_at(int64_t slab, int64_t panel) const {
    return gathered.data() + (slab * split.padded() + split.first_column(panel)) * w.depth_words();
  }
  int32_t* sums_at(int64_t slab, int64_t panel) const {
    return gathered.data() + slabs() * split.padded() * w.depth_words() + slab * split.padded() +
           split.first_column(panel);
  }
};

// A panel of a slab and, where they are needed, the sums of its columns. Words move as floats do.
void gather_panel(const ConvJob& job, int64_t slab, int64_t panel, int32_t* packed, int32_t* sums) {
  const int64_t columns = job.split.columns(panel), width = job.split.width(panel);
  ColumnRun runs[kMostRuns];
  const int64_t count = find_runs(job.g, job.split.first_column(panel), columns, runs);
  const auto* words = reinterpret_cast<const float*>(job.words.data() + slab * job.slab_words());
  kernels().conv_f32->gather_panel(job.padded, words, job.w.channel_words(), runs, count, columns, width,
                                   reinterpret_cast<float*>(packed));
  std::fill(packed + job.w.used_words() * width, packed + job.w.depth_words() * width, 0);
  const auto pair_columns = job.w.kernels->pair_columns;
  if (pair_columns != nullptr) pair_columns(job.split.vectors(panel), job.w.depth_words(), packed);
  if (!job.needs_column_sums) return;
  const int32_t one = job.w.kernels->group == 4 ? 0x01010101 : 0x00010001;
  const int32_t ones[] = {0, one, one, one, one};  // a row with nothing before it, or two
  job.w.kernels->block(job.split.vectors(panel), {reinterpret_cast<const uint8_t*>(ones + 1), 0, packed, sums, width, 1,
                                                  width, job.w.depth_words(), /*a_step=*/0});
}

void gather_all(base::ThreadPool* pool, ConvJob& job, double panel_ns) {
  constexpr int64_t kSlack = 1024;
  const int64_t panels = job.split.count();
  const int64_t columns = job.slabs() * job.split.padded();
  job.gathered = Scratch<int32_t>(columns * (job.w.depth_words() + 1) + kSlack);
  base::parallel_for(pool, job.slabs() * panels, least_items(panel_ns), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t slab = i / panels, panel = i % panels;
      gather_panel(job, slab, panel, job.panel_at(slab, panel), job.sums_at(slab, panel));
    }
  });
}

// What one task computes, of a slab.
struct Band {
  int64_t slab, first_panel, last_panel, first_row, last_row;
};

Band band_of(const ConvJob& job, int64_t task) {
  const GridDivision& d = job.division.grid;
  const int64_t down = task / d.across % d.down, across = task % d.across;
  const int64_t rows = d.width * std::min<int64_t>(job.w.kernels->tile_rows, job.w.group_rows);
  return {task / d.tasks(), down * d.height, std::min(job.split.count(), (down + 1) * d.height), across * rows,
          std::min(job.w.group_rows, (across + 1) * rows)};
}

// The true sum is that of (w - w_zero) * (x - x_zero): the products' sum less w_zero times the column's sum, x_zero
// times the row's, plus both zeros' product. What is added for each row of some of a group:
void set_row_add(const ConvJob& job, int64_t channel, int64_t rows, const int32_t* row_sums, int32_t* row_add) {
  const auto k = static_cast<uint32_t>(job.w.depth * job.w.taps), x_zero = static_cast<uint32_t>(job.x_zero);
  for (int64_t i = 0; i < rows; ++i) {
    const auto w_zero = static_cast<uint32_t>(job.w_zeros[channel + i]);
    row_add[i] = static_cast<int32_t>(k * w_zero * x_zero - static_cast<uint32_t>(row_sums[i]) * x_zero);
  }
}

// The panels of a band, side by side, and the sums of their columns.
struct Panels {
  const int32_t *words, *sums;
  Scratch<int32_t> gathered = {};  // where they are this band's alone
};

Panels panels_of(const ConvJob& job, const Band& b) {
  if (job.gathered.data() != nullptr) return {job.panel_at(b.slab, b.first_panel), job.sums_at(b.slab, b.first_panel)};
  const int64_t first = job.split.first_column(b.first_panel), depth = job.w.depth_words();
  const int64_t columns = job.split.first_column(b.last_panel - 1) + job.split.width(b.last_panel - 1) - first;
  Scratch<int32_t> space(columns * (depth + 1) + 1024);
  int32_t *const words = space.data(), *const sums = words + columns * depth;
  for (int64_t panel = b.first_panel; panel < b.last_panel; ++panel) {
    const int64_t at = job.split.first_column(panel) - first;
    gather_panel(job, b.slab, panel, words + at * depth, sums + at);
  }
  return {words, sums, std::move(space)};
}

// Calls finish(plane, first position, sums) for the blocks of a band.
template <class Finish>
void run_band(const ConvJob& job, const Band& b, Finish finish) {
  const GemmInt8Kernels& kernels = *job.w.kernels;
  const Panels panels = panels_of(job, b);
  const int64_t group = b.slab % job.g.groups, image = job.first_image + b.slab / job.g.groups;
  const int64_t step = round_up(kRowsAtOnce, kernels.tile_rows), first = job.split.first_column(b.first_panel);
  const LeftInt8 left = job.w.group(group);
  const Scratch<int32_t> space(step * (kMostColumns + 1));
  int32_t *const c = space.data(), *const row_add = c + step * kMostColumns;
  for (int64_t row = b.first_row; row < b.last_row; row += step) {
    const int64_t rows = std::min(step, b.last_row - row), channel = group * job.w.group_rows + row;
    set_row_add(job, channel, rows, left.row_sums + row, row_add);
    for (int64_t panel = b.first_panel; panel < b.last_panel; ++panel) {
      const int64_t columns = job.split.columns(panel), at = job.split.first_column(panel) - first;
      kernels.block(job.split.vectors(panel),
                    {left.data + row * left.stride, left.stride, panels.words + at * job.w.depth_words(), c,
                     kMostColumns, rows, columns, job.w.depth_words()});
      const int32_t* sums = job.needs_column_sums ? panels.sums + at : nullptr;
      finish(image * job.g.out_channels + channel, job.split.first_column(panel),
             ChannelSums{rows, columns, c, kMostColumns, row_add, job.w_zeros.data() + channel, sums});
    }
  }
}

int32_t weight_zero(const ConvInt8& operands, bool is_signed, int64_t channel) {
  if (operands.w_zero == nullptr) return 0;
  return byte_at(operands.w_zero, operands.w_zero_per_channel ? channel : 0, is_signed);
}

// Of every output channel, after the shift.
std::vector<int32_t> weight_zeros(const ConvGeometry& g, const ConvInt8& operands, bool is_signed, int32_t shift) {
  std::vector<int32_t> zeros(g.out_channels);
  for (int64_t c = 0; c < g.out_channels; ++c) zeros[c] = weight_zero(operands, is_signed, c) + shift;
  return zeros;
}

ConvJob job_of(const ConvGeometry& g, const ConvInt8& operands, const PackedConvWeightsInt8::Storage& w) {
  std::vector<int32_t> w_zeros = weight_zeros(g, operands, w.is_signed, w.kernels->a_shift(w.is_signed));
  const bool any = std::any_of(w_zeros.begin(), w_zeros.end(), [](int32_t zero) { return zero != 0; });
  return {g,
          padded_geometry(g, w.channel_words()),
          operands,
          w,
          PanelSplit(volume(g.out), *w.kernels),
          operands.x_zero - w.kernels->b_shift(operands.x_signed),
          std::move(w_zeros),
          any};
}

// Calls finish(plane, first position, sums) for blocks that together cover every output plane.
template <class Finish>
void conv_dense(base::ThreadPool* pool, const ConvGeometry& g, const ConvInt8& operands,
                const PackedConvWeightsInt8::Storage& w, Finish finish) {
  ConvJob job = job_of(g, operands, w);
  const auto& in = job.padded.in;
  const WordPlanes planes{g, operands, *w.kernels, {in[0], in[1], in[2]}};
  const WordConv size{g.groups, w.group_rows, w.depth_words(), job.split, g.out[2]};
  const double image_ns = units_ns(word_conv_grid(size, *w.kernels).grid);
  const int64_t most = images_at_once(g.batch, image_ns, planes.image() * int64_t{sizeof(int32_t)}, threads_of(pool));
  job.words = Scratch<int32_t>(most * planes.image());
  for (; job.first_image < g.batch; job.first_image += most) {
    job.images = std::min(most, g.batch - job.first_image);
    interleave_images(pool, planes, job.first_image, job.images, job.words.data());
    const PreparedGrid grid =
        word_conv_grid({job.slabs(), size.channels, size.words, job.split, size.out_row}, *w.kernels);
    job.division = divide_prepared(grid, threads_of(pool));
    if (job.division.together) gather_all(pool, job, grid.prepare_ns);
    base::parallel_for(pool, grid.grid.times * job.division.grid.tasks(), job.division.grain,
                       [&](int64_t begin, int64_t end) {
                         for (int64_t task = begin; task < end; ++task) run_band(job, band_of(job, task), finish);
                       });
    job.gathered = {};
  }
}

void widen_plane(const ConvInt8& operands, const uint8_t* x, int64_t count, float* to) {
  const auto& convert = *kernels().convert;
  if (operands.x_signed) {
    convert.dequantize_s8(reinterpret_cast<const int8_t*>(x), count, 1, operands.x_zero, to);
  } else {
    convert.dequantize_u8(x, count, 1, operands.x_zero, to);
  }
}

// Planes as exact floats around the zero point, slice by slice.
struct DepthwiseJob {
  const ConvGeometry& g;
  const ConvInt8& operands;
  const PackedConvWeightsInt8::Storage& w;
  DepthwiseLayout layout;
  int64_t in_size, out_size;  // of a slice
  int64_t offsets[kExactTaps];

  DepthwiseJob(const ConvGeometry& g, const ConvInt8& operands, const PackedConvWeightsInt8::Storage& w)
      : g(g), operands(operands), w(w), layout(g), in_size(g.in[1] * g.in[2]), out_size(g.out[1] * g.out[2]) {
    layout.offsets(g, offsets);
  }
  int64_t channel(int64_t plane) const { return plane % g.out_channels; }
  const uint8_t* slice(int64_t plane, int64_t d) const {
    const int64_t in = plane / g.out_channels * g.groups + channel(plane) / w.group_rows;
    return static_cast<const uint8_t*>(operands.x) + (in * g.in[0] + d) * in_size;
  }
  void taps(int64_t plane, float* to) const {
    const int64_t first = channel(plane) * w.taps;
    const int32_t zero = weight_zero(operands, w.is_signed, channel(plane));
    for (int64_t t = 0; t < w.taps; ++t) {
      to[t] = static_cast<float>(byte_at(w.data.as<void>(), first + t, w.is_signed) - zero);
    }
  }
};

// What depthwise planes are computed in, for one thread.
struct DepthwiseScratch {
  Scratch<float> x, tile, wide, y;
  float taps[kExactTaps];

  explicit DepthwiseScratch(const DepthwiseJob& d)
      : x(d.layout.size()), tile(d.layout.scratch(d.g)), wide(d.in_size), y(2 * d.out_size) {
    std::fill_n(x.data(), d.layout.size(), 0.0f);
  }
  int32_t* sums(int64_t count) { return reinterpret_cast<int32_t*>(y.data() + count); }
};

// The sums of one slice of a plane; those over a slice of padding are 0.
const int32_t* depthwise_slice(const DepthwiseJob& d, int64_t plane, int64_t slice, DepthwiseScratch& s) {
  int32_t* sums = s.sums(d.out_size);
  std::fill_n(sums, d.out_size, 0);
  const int64_t from = slice - d.g.pad_begin[0];
  if (from < 0 || from >= d.g.in[0]) return sums;
  const auto& kernel = *kernels().conv_f32;
  const float infinity = std::numeric_limits<float>::infinity();
  widen_plane(d.operands, d.slice(plane, from), d.in_size, s.wide.data());
  kernel.spread_plane(d.g, s.wide.data(), d.layout.plane(), d.layout.row(), s.x.data());
  kernel.depthwise({s.x.data(), d.layout.row(), s.taps, d.offsets, d.w.taps, d.g.out[1], d.g.out[2], 0, nullptr,
                    -infinity, infinity, s.y.data(), s.tile.data()});
  for (int64_t i = 0; i < d.out_size; ++i) sums[i] = static_cast<int32_t>(s.y.data()[i]);
  return sums;
}

template <class Finish>
void conv_depthwise(base::ThreadPool* pool, const ConvGeometry& g, const ConvInt8& operands,
                    const PackedConvWeightsInt8::Storage& w, Finish finish) {
  const DepthwiseJob d(g, operands, w);
  const double plane_ns = static_cast<double>(g.out[0] * (d.in_size + d.out_size * (w.taps + 4))) * kPlaneElementNs;
  base::parallel_for(pool, g.batch * g.out_channels, least_items(plane_ns), [&](int64_t begin, int64_t end) {
    DepthwiseScratch scratch(d);
    for (int64_t plane = begin; plane < end; ++plane) {
      d.taps(plane, scratch.taps);
      for (int64_t slice = 0; slice < g.out[0]; ++slice) {
        const int32_t* sums = depthwise_slice(d, plane, slice, scratch);
        const int32_t nothing = 0;
        finish(plane, slice * d.out_size, ChannelSums{1, d.out_size, sums, d.out_size, &nothing, &nothing, nullptr});
      }
    }
  });
}

// False where the weights are not packed for it.
bool conv_transformed(base::ThreadPool* pool, const ConvGeometry& g, const ConvInt8& operands,
                      const PackedConvWeightsInt8& weights, const Requantization* after, void* y) {
  const WinogradInt16Weights& w = weights.storage()->winograd;
  if (w.empty()) return false;
  if (g.batch * g.out_channels * volume(g.out) == 0) return true;
  conv_winograd_int16(pool, g, operands, weight_zeros(g, operands, weights.is_signed(), w.shift()), w, after, y);
  return true;
}

template <class Finish>
void for_each_block(base::ThreadPool* pool, const ConvGeometry& g, const ConvInt8& operands,
                    const PackedConvWeightsInt8& weights, Finish finish) {
  if (g.batch * g.out_channels * volume(g.out) == 0) return;
  if (weights.storage()->depthwise) {
    conv_depthwise(pool, g, operands, *weights.storage(), finish);
  } else if (!weights.storage()->tiles.empty()) {
    conv_in_tiles(pool, g, operands, weights.storage()->tiles, finish);
  } else {
    conv_dense(pool, g, operands, *weights.storage(), finish);
  }
}

}  // namespace

void conv_int8(base::ThreadPool* pool, const ConvGeometry& g, const ConvInt8& operands,
               const PackedConvWeightsInt8& weights, int32_t* y) {
  if (conv_transformed(pool, g, operands, weights, nullptr, y)) return;
  const int64_t plane_size = volume(g.out);
  for_each_block(pool, g, operands, weights, [&](int64_t plane, int64_t first, const ChannelSums& sums) {
    for (int64_t i = 0; i < sums.rows; ++i) {
      int32_t* to = y + (plane + i) * plane_size + first;
      const int32_t* from = sums.c + i * sums.ldc;
      const auto add = static_cast<uint32_t>(sums.row_add[i]), times = static_cast<uint32_t>(sums.row_factor[i]);
      for (int64_t j = 0; j < sums.columns; ++j) {
        const uint32_t less = sums.column_sum == nullptr ? 0 : times * static_cast<uint32_t>(sums.column_sum[j]);
        to[j] = static_cast<int32_t>(static_cast<uint32_t>(from[j]) + add - less);
      }
    }
  });
}

template <class T>
void qlinear_conv(base::ThreadPool* pool, const ConvGeometry& g, const ConvInt8& operands,
                  const PackedConvWeightsInt8& weights, const int32_t* bias, const float* scale, bool scale_per_channel,
                  int32_t y_zero, T* y) {
  const Requantization after{bias, scale, scale_per_channel, y_zero, std::is_signed_v<T>};
  if (conv_transformed(pool, g, operands, weights, &after, y)) return;
  const int64_t plane_size = volume(g.out);
  const auto requantize_block = kernels().convert->requantize_block;
  for_each_block(pool, g, operands, weights, [&](int64_t plane, int64_t first, ChannelSums sums) {
    const int64_t channel = plane % g.out_channels;
    Scratch<int32_t> biased;
    if (bias != nullptr) {
      biased = Scratch<int32_t>(sums.rows);
      for (int64_t i = 0; i < sums.rows; ++i) {
        biased.data()[i] =
            static_cast<int32_t>(static_cast<uint32_t>(sums.row_add[i]) + static_cast<uint32_t>(bias[channel + i]));
      }
      sums.row_add = biased.data();
    }
    requantize_block(sums, scale + (scale_per_channel ? channel : 0), scale_per_channel, y_zero, std::is_signed_v<T>,
                     y + plane * plane_size + first, plane_size);
  });
}

template void qlinear_conv(base::ThreadPool*, const ConvGeometry&, const ConvInt8&, const PackedConvWeightsInt8&,
                           const int32_t*, const float*, bool, int32_t, int8_t*);
template void qlinear_conv(base::ThreadPool*, const ConvGeometry&, const ConvInt8&, const PackedConvWeightsInt8&,
                           const int32_t*, const float*, bool, int32_t, uint8_t*);

}  // namespace ortolan::cpu::kernels
