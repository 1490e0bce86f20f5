// Convolution of bytes: weights times gathered panels of bytes, exact, with zero points and requantisation.
#include "cpu/kernels/conv_int8.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "base/thread_pool.h"
#include "cpu/kernels/conv_f32_kernels.h"
#include "cpu/kernels/conv_int8_tiles.h"
#include "cpu/kernels/conv_int8_weights.h"
#include "cpu/kernels/gemm_int8_kernels.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/lengths.h"

namespace ortolan::cpu::kernels {

namespace {

constexpr double kConvGrainOps = 2e6;
constexpr int64_t kWidest = 64;  // columns of a panel at most

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

struct ConvJob {
  const ConvGeometry& g;
  ConvGeometry padded;
  const ConvInt8& operands;
  const PackedConvWeightsInt8::Storage& w;
  PanelSplit split;
  int64_t rows_per_band, bands;
  int32_t x_zero;          // after the shift
  const int32_t* w_zeros;  // of every output channel, after the shift
};

// One word plane: `group` channels side by side, surrounded by the zero point.
void interleave_channels(const ConvJob& job, const uint8_t* x, int64_t channel, int32_t* scratch, int32_t* to) {
  const GemmInt8Kernels& kernels = *job.w.kernels;
  const int64_t plane = volume(job.g.in), padded_plane = volume(job.padded.in);
  const bool flip = kernels.b_shift(job.operands.x_signed) != 0;
  auto* nothing = reinterpret_cast<uint8_t*>(scratch + 2 * plane);
  std::memset(nothing, flip ? 128 : 0, plane);
  const uint8_t* rows[4];
  for (int r = 0; r < kernels.group; ++r) rows[r] = channel + r < job.w.depth ? x + (channel + r) * plane : nothing;
  int32_t* words = padded_plane == plane ? to : scratch;
  kernels.pack_group(rows, plane, job.operands.x_signed, flip, words, scratch + plane);
  if (words == to) return;
  uint8_t zeros[4] = {static_cast<uint8_t>(job.operands.x_zero), static_cast<uint8_t>(job.operands.x_zero),
                      static_cast<uint8_t>(job.operands.x_zero), static_cast<uint8_t>(job.operands.x_zero)};
  const uint8_t* zero_rows[4];
  for (int r = 0; r < kernels.group; ++r) zero_rows[r] = channel + r < job.w.depth ? zeros : nothing;
  int32_t zero_word, ignored = 0;
  kernels.pack_group(zero_rows, 1, job.operands.x_signed, flip, &zero_word, &ignored);
  std::fill_n(to, padded_plane, zero_word);
  const auto& in = job.g.in;
  for (int64_t row = 0; row < in[0] * in[1]; ++row) {
    const int64_t d = row / in[1] + job.g.pad_begin[0], h = row % in[1] + job.g.pad_begin[1];
    std::copy_n(words + row * in[2], in[2], to + (d * job.padded.in[1] + h) * job.padded.in[2] + job.g.pad_begin[2]);
  }
}

void interleave_image(base::ThreadPool* pool, const ConvJob& job, const uint8_t* x, int32_t* words) {
  const int64_t per_group = job.w.channel_words(), plane = volume(job.g.in), padded_plane = volume(job.padded.in);
  base::parallel_for(pool, job.g.groups * per_group, 8192 / (plane + 1) + 1, [&](int64_t begin, int64_t end) {
    auto* scratch = thread_scratch<int32_t>(Scratch::kTile, 3 * plane);
    std::fill_n(scratch + plane, plane, 0);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t group = i / per_group, channel = i % per_group * job.w.kernels->group;
      interleave_channels(job, x + group * job.w.depth * plane, channel, scratch, words + i * padded_plane);
    }
  });
}

// The panel of one group and the sums of its columns. Words move as floats do.
void gather_panel(const ConvJob& job, const int32_t* words, int64_t panel, int32_t* packed, int32_t* sums) {
  const int64_t columns = job.split.columns(panel), width = job.split.width(panel);
  ColumnRun runs[kMostRuns];
  const int64_t count = find_runs(job.g, job.split.first_column(panel), columns, runs);
  kernels().conv_f32->gather_panel(job.padded, reinterpret_cast<const float*>(words), job.w.channel_words(), runs,
                                   count, columns, width, reinterpret_cast<float*>(packed));
  const int32_t ones = job.w.kernels->group == 4 ? 0x01010101 : 0x00010001;
  job.w.kernels->block(job.split.vectors(panel), {reinterpret_cast<const uint8_t*>(&ones), 0, packed, sums, width, 1,
                                                  width, job.w.depth_words(), /*a_step=*/0});
}

// Calls finish(first channel, first position, sums) for one panel and band. The true sum is that of (w - w_zero) *
// (x - x_zero): the products' sum less w_zero times the column's sum, x_zero times the row's, plus both zeros' product.
template <class Finish>
void run_unit(const ConvJob& job, const int32_t* words, int64_t unit, int32_t* packed, int32_t* c, int32_t* row_add,
              Finish finish) {
  const int64_t band = unit % job.bands, panel = unit / job.bands % job.split.count();
  const int64_t group = unit / job.bands / job.split.count();
  const int64_t first_row = band * job.rows_per_band, columns = job.split.columns(panel);
  const int64_t rows = std::min(job.rows_per_band, job.w.group_rows - first_row);
  const int64_t channel = group * job.w.group_rows + first_row;
  int32_t column_sums[kWidest];
  gather_panel(job, words + group * job.w.channel_words() * volume(job.padded.in), panel, packed, column_sums);
  const LeftInt8 left = job.w.group(group);
  job.w.kernels->block(job.split.vectors(panel), {left.data + first_row * left.stride, left.stride, packed, c, kWidest,
                                                  rows, columns, job.w.depth_words()});
  const auto k = static_cast<uint32_t>(job.w.depth * job.w.taps), x_zero = static_cast<uint32_t>(job.x_zero);
  for (int64_t i = 0; i < rows; ++i) {
    const auto w_zero = static_cast<uint32_t>(job.w_zeros[channel + i]);
    const auto row_sum = static_cast<uint32_t>(left.row_sums[first_row + i]);
    row_add[i] = static_cast<int32_t>(k * w_zero * x_zero - row_sum * x_zero);
  }
  finish(channel, job.split.first_column(panel),
         ChannelSums{rows, columns, c, kWidest, row_add, job.w_zeros + channel, column_sums});
}

int32_t weight_zero(const ConvInt8& operands, bool is_signed, int64_t channel) {
  if (operands.w_zero == nullptr) return 0;
  return byte_at(operands.w_zero, operands.w_zero_per_channel ? channel : 0, is_signed);
}

// Calls finish(plane, first position, sums) for blocks that together cover every output plane.
template <class Finish>
void conv_dense(base::ThreadPool* pool, const ConvGeometry& g, const ConvInt8& operands,
                const PackedConvWeightsInt8::Storage& w, Finish finish) {
  std::vector<int32_t> w_zeros(g.out_channels);
  for (int64_t c = 0; c < g.out_channels; ++c) {
    w_zeros[c] = weight_zero(operands, w.is_signed, c) + w.kernels->a_shift(w.is_signed);
  }
  ConvJob job{g,
              padded_geometry(g, w.channel_words()),
              operands,
              w,
              PanelSplit(volume(g.out), *w.kernels),
              w.group_rows,
              1,
              operands.x_zero - w.kernels->b_shift(operands.x_signed),
              w_zeros.data()};
  const int64_t panels = job.split.count(), degree = pool == nullptr ? 1 : pool->degree();
  while (degree > 1 && g.groups * panels * job.bands < 4 * degree && job.rows_per_band > 8 * w.kernels->tile_rows) {
    job.rows_per_band = (job.rows_per_band + 1) / 2;
    job.bands = (w.group_rows + job.rows_per_band - 1) / job.rows_per_band;
  }
  const int64_t words = g.groups * w.channel_words() * volume(job.padded.in);
  AlignedBuffer image(static_cast<size_t>(words) * sizeof(int32_t));
  const double ops =
      2.0 * static_cast<double>(job.rows_per_band * job.split.width(0)) * static_cast<double>(w.depth_words() * 4);
  for (int64_t i = 0; i < g.batch; ++i) {
    interleave_image(pool, job, static_cast<const uint8_t*>(operands.x) + i * g.in_channels * volume(g.in),
                     image.as<int32_t>());
    base::parallel_for(pool, g.groups * panels * job.bands, static_cast<int64_t>(kConvGrainOps / (ops + 1)) + 1,
                       [&](int64_t begin, int64_t end) {
                         auto* packed =
                             thread_scratch<int32_t>(Scratch::kColumns, w.depth_words() * job.split.width(0) + 1024);
                         auto* c = thread_scratch<int32_t>(Scratch::kTile, job.rows_per_band * kWidest);
                         auto* row_add = thread_scratch<int32_t>(Scratch::kSums, job.rows_per_band);
                         for (int64_t unit = begin; unit < end; ++unit) {
                           run_unit(job, image.as<int32_t>(), unit, packed, c, row_add,
                                    [&](int64_t channel, int64_t first, const ChannelSums& sums) {
                                      finish(i * g.out_channels + channel, first, sums);
                                    });
                         }
                       });
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
  float *x, *tile, *wide, *y;
  float taps[kExactTaps];

  explicit DepthwiseScratch(const DepthwiseJob& d)
      : x(thread_scratch<float>(Scratch::kColumns, d.layout.size())),
        tile(thread_scratch<float>(Scratch::kTile, d.layout.scratch(d.g))),
        wide(thread_scratch<float>(Scratch::kBytes, d.in_size)),
        y(thread_scratch<float>(Scratch::kSums, 2 * d.out_size)) {
    std::fill_n(x, d.layout.size(), 0.0f);
  }
  int32_t* sums(int64_t count) { return reinterpret_cast<int32_t*>(y + count); }
};

// The sums of one slice of a plane; those over a slice of padding are 0.
const int32_t* depthwise_slice(const DepthwiseJob& d, int64_t plane, int64_t slice, DepthwiseScratch& s) {
  int32_t* sums = s.sums(d.out_size);
  std::fill_n(sums, d.out_size, 0);
  const int64_t from = slice - d.g.pad_begin[0];
  if (from < 0 || from >= d.g.in[0]) return sums;
  const auto& kernel = *kernels().conv_f32;
  const float infinity = std::numeric_limits<float>::infinity();
  widen_plane(d.operands, d.slice(plane, from), d.in_size, s.wide);
  kernel.spread_plane(d.g, s.wide, d.layout.plane(), d.layout.row(), s.x);
  kernel.depthwise({s.x, d.layout.row(), s.taps, d.offsets, d.w.taps, d.g.out[1], d.g.out[2], 0, nullptr, -infinity,
                    infinity, s.y, s.tile});
  for (int64_t i = 0; i < d.out_size; ++i) sums[i] = static_cast<int32_t>(s.y[i]);
  return sums;
}

template <class Finish>
void conv_depthwise(base::ThreadPool* pool, const ConvGeometry& g, const ConvInt8& operands,
                    const PackedConvWeightsInt8::Storage& w, Finish finish) {
  const DepthwiseJob d(g, operands, w);
  base::parallel_for(pool, g.batch * g.out_channels, 16384 / (volume(g.out) + 1) + 1, [&](int64_t begin, int64_t end) {
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
  const int64_t plane_size = volume(g.out);
  const auto requantize_block = kernels().convert->requantize_block;
  for_each_block(pool, g, operands, weights, [&](int64_t plane, int64_t first, ChannelSums sums) {
    const int64_t channel = plane % g.out_channels;
    int32_t* biased = nullptr;
    if (bias != nullptr) {
      biased = thread_scratch<int32_t>(Scratch::kOther, sums.rows);
      for (int64_t i = 0; i < sums.rows; ++i) {
        biased[i] =
            static_cast<int32_t>(static_cast<uint32_t>(sums.row_add[i]) + static_cast<uint32_t>(bias[channel + i]));
      }
      sums.row_add = biased;
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
