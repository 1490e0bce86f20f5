// fp32 convolution: weights times gathered input panels, or plane by plane where it is depthwise.
#include "cpu/kernels/conv_f32.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/thread_pool.h"
#include "cpu/kernels/aligned_buffer.h"
#include "cpu/kernels/conv_f32_kernels.h"
#include "cpu/kernels/gemm_f32_kernels.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/unaligned.h"
#include "cpu/kernels/vector_f32.h"
#include "cpu/kernels/winograd_f32.h"

namespace ortolan::cpu::kernels {

struct PackedConvWeights::Storage {
  const GemmF32Kernels* kernels;
  int64_t group_rows;   // output channels of a group
  int64_t group_depth;  // input channels of a group
  int64_t taps;
  int64_t channels_per_block;  // input channels whose taps make one block of the sums
  // Where depthwise, the weights as they came. Else, group after group and in it block after block of the sums, tiles
  // of tile_rows rows, so that they are read in the order in which they lie.
  bool depthwise;
  bool winograd;  // transformed weights instead, as winograd_f32.h lays them out
  AlignedBuffer data;

  int64_t padded_rows() const {
    const int64_t tile = kernels->tile_rows;
    return (group_rows + tile - 1) / tile * tile;
  }
  const float* block(int64_t group, int64_t first_channel) const {
    return data.as<float>() + padded_rows() * taps * (group * group_depth + first_channel);
  }
};

PackedConvWeights::PackedConvWeights() = default;
PackedConvWeights::~PackedConvWeights() = default;
PackedConvWeights::PackedConvWeights(PackedConvWeights&&) noexcept = default;
PackedConvWeights& PackedConvWeights::operator=(PackedConvWeights&&) noexcept = default;
PackedConvWeights::PackedConvWeights(std::unique_ptr<Storage> storage) : storage_(std::move(storage)) {}
int64_t PackedConvWeights::bytes() const noexcept {
  return storage_ == nullptr ? 0 : static_cast<int64_t>(storage_->data.bytes());
}

namespace {

constexpr double kGrainFlops = 4e5;
constexpr int64_t kPackedAtOnce = 32768;  // weights worth a thread
constexpr int64_t kLongestSum = 256;      // length of the blocks in which sums run
constexpr int64_t kGroupColumns = 192;    // columns that share one pass over the weights
constexpr int64_t kBandTiles = 8;         // register tiles of weights that stay near while panels pass

int64_t volume(const int64_t (&dims)[3]) { return dims[0] * dims[1] * dims[2]; }

// Convolutions with one input channel to a group; 3-D ones take the general way.
bool is_depthwise(const ConvGeometry& g) {
  return g.groups > 1 && g.in_channels == g.groups && g.kernel[0] == 1 && g.stride[0] == 1;
}

// A tile of k columns from `rows` rows that are `stride` apart; missing rows are zero.
void pack_tile(const float* weights, int64_t stride, int64_t rows, int64_t k, int64_t tile, float* packed) {
  if (rows < tile) std::fill_n(packed, tile * k, 0.0f);
  for (int64_t r = 0; r < rows; ++r) {
    const float* from = weights + r * stride;
    for (int64_t i = 0; i < k; ++i) packed[i * tile + r] = read_unaligned(from + i);
  }
}

// Rows [row, row + tile_rows) of a group: a tile in each block of the sums.
void pack_rows(const PackedConvWeights::Storage& s, int64_t group, int64_t row, const float* weights, float* to) {
  const int64_t depth = s.group_depth * s.taps, tile = s.kernels->tile_rows;
  weights += (group * s.group_rows + row) * depth;
  to += group * s.padded_rows() * depth;
  for (int64_t first = 0; first < s.group_depth; first += s.channels_per_block) {
    const int64_t k = std::min(s.channels_per_block, s.group_depth - first) * s.taps;
    pack_tile(weights + first * s.taps, depth, std::min(tile, s.group_rows - row), k, tile, to + row * k);
    to += s.padded_rows() * k;
  }
}

void pack_dense(base::ThreadPool* pool, const PackedConvWeights::Storage& s, int64_t groups, const float* weights,
                float* to) {
  const int64_t tile = s.kernels->tile_rows, tiles = s.padded_rows() / tile;
  const int64_t grain = kPackedAtOnce / (tile * s.group_depth * s.taps + 1) + 1;
  base::parallel_for(pool, groups * tiles, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) pack_rows(s, i / tiles, i % tiles * tile, weights, to);
  });
}

bool is_clamp(UnaryOp op) { return op == UnaryOp::kIdentity || op == UnaryOp::kRelu || op == UnaryOp::kClip; }

struct Clamp {
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};

Clamp clamp_of(Activation activation) {
  Clamp clamp;
  if (activation.op == UnaryOp::kRelu) clamp.low = 0;
  if (activation.op == UnaryOp::kClip) clamp = {activation.p0, activation.p1};
  return clamp;
}

struct Conv {
  const ConvGeometry& geometry;
  const float* x;
  const PackedConvWeights::Storage& weights;
  const ConvEpilogue& epilogue;
  float* y;
  const ConvF32Kernels& kernels;
  PanelSplit split;
  bool pointwise;  // panels are the input itself
  int64_t panels_per_group, panel_groups, rows_per_band, bands;

  int64_t units() const { return geometry.batch * geometry.groups * panel_groups * bands; }
};

// The runs of outputs [first, first + count): one for each output row they touch.
int64_t find_runs(const ConvGeometry& g, int64_t first, int64_t count, ColumnRun* runs) {
  int64_t found = 0;
  for (int64_t at = 0; at < count;) {
    const int64_t out = first + at, w = out % g.out[2];
    ColumnRun& run = runs[found++];
    run.at = at;
    run.count = std::min(count - at, g.out[2] - w);
    run.out[0] = out / (g.out[2] * g.out[1]);
    run.out[1] = out / g.out[2] % g.out[1];
    run.out[2] = w;
    at += run.count;
  }
  return found;
}

constexpr int kMaxRuns = 64;  // a panel is at most 48 outputs wide

void gather(const Conv& c, const float* x, int64_t channels, int64_t panel, float* to) {
  const int64_t first = c.split.first_column(panel), columns = c.split.columns(panel), width = c.split.width(panel);
  if (c.pointwise) {
    c.weights.kernels->pack_panel(x + first, volume(c.geometry.in), channels, columns, width, to);
    return;
  }
  ColumnRun runs[kMaxRuns];
  const int64_t count = find_runs(c.geometry, first, columns, runs);
  c.kernels.gather_panel(c.geometry, x, channels, runs, count, columns, width, to);
}

struct Band {
  int64_t image, group, first_panel, last_panel, first_row, last_row;
};

Band band_of(const Conv& c, int64_t unit) {
  Band b;
  const int64_t band = unit % c.bands;
  unit /= c.bands;
  const int64_t panels = unit % c.panel_groups;
  unit /= c.panel_groups;
  b.group = unit % c.geometry.groups;
  b.image = unit / c.geometry.groups;
  b.first_panel = panels * c.panels_per_group;
  b.last_panel = std::min(c.split.count(), b.first_panel + c.panels_per_group);
  b.first_row = band * c.rows_per_band;
  b.last_row = std::min(c.weights.group_rows, b.first_row + c.rows_per_band);
  return b;
}

void set_finish(const Conv& c, const Band& b, int64_t row, GemmBlock& g) {
  const int64_t channel = b.group * c.weights.group_rows + row;
  if (c.epilogue.bias != nullptr) g.row_bias = c.epilogue.bias + channel;
  if (c.epilogue.residual != nullptr) {
    g.residual = c.epilogue.residual + (g.c - c.y);
    g.residual_stride = g.ldc;
  }
  const UnaryOp op = c.epilogue.activation.op;
  if (op != UnaryOp::kRelu && op != UnaryOp::kClip) return;
  const Clamp clamp = clamp_of(c.epilogue.activation);
  g.clamp = true;
  g.low = clamp.low;
  g.high = clamp.high;
}

// One block of the sum (input channels [first, first + channels) of the group) for all rows and panels of a band.
void multiply_block(const Conv& c, const Band& b, const float* columns, int64_t first, int64_t channels) {
  const auto& w = c.weights;
  const int64_t out_plane = volume(c.geometry.out), step = kBandTiles * w.kernels->tile_rows;
  GemmBlock g;
  g.k = channels * w.taps;
  g.lda = g.k;
  g.ldc = out_plane;
  g.c_scale = first == 0 ? 0 : 1;
  const bool last = first + channels == w.group_depth;
  for (int64_t row = b.first_row; row < b.last_row; row += step) {
    const float* panel_data = columns;
    g.rows = std::min(step, b.last_row - row);
    g.a = w.block(b.group, first) + row * g.k;
    for (int64_t panel = b.first_panel; panel < b.last_panel; ++panel) {
      g.b = panel_data;
      g.b_step = c.split.width(panel);
      g.columns = c.split.columns(panel);
      g.c = c.y + ((b.image * c.geometry.groups + b.group) * w.group_rows + row) * out_plane +
            c.split.first_column(panel);
      if (last) set_finish(c, b, row, g);
      if (c.split.thin(panel)) {
        w.kernels->thin_block_packed_a(g);
      } else {
        w.kernels->block_packed_a(c.split.vectors(panel), g);
      }
      panel_data += g.b_step * g.k;
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

void run_band(const Conv& c, int64_t unit) {
  const Band b = band_of(c, unit);
  const auto& w = c.weights;
  const int64_t in_plane = volume(c.geometry.in);
  const float* x = c.x + (b.image * c.geometry.groups + b.group) * w.group_depth * in_plane;
  const int64_t width =
      c.split.first_column(b.last_panel - 1) + c.split.width(b.last_panel - 1) - c.split.first_column(b.first_panel);
  float* columns = thread_scratch<float>(Scratch::kColumns, w.channels_per_block * w.taps * width + 4096);
  for (int64_t first = 0; first < w.group_depth; first += w.channels_per_block) {
    const int64_t channels = std::min(w.channels_per_block, w.group_depth - first);
    float* to = columns;
    for (int64_t panel = b.first_panel; panel < b.last_panel; ++panel) {
      gather(c, x + first * in_plane, channels, panel, to);
      to += channels * w.taps * c.split.width(panel);
    }
    multiply_block(c, b, columns, first, channels);
  }
  if (!is_clamp(c.epilogue.activation.op)) activate_band(c, b);
}

// Divides the work: a few panels and all rows where there is enough of it, else fewer panels, else bands of rows too.
void divide(Conv& c, int degree) {
  const auto& w = c.weights;
  c.panels_per_group = std::clamp<int64_t>(kGroupColumns / c.split.width(0), 1, c.split.count());
  c.rows_per_band = w.padded_rows();
  const auto recount = [&c, &w] {
    c.panel_groups = (c.split.count() + c.panels_per_group - 1) / c.panels_per_group;
    c.bands = (w.group_rows + c.rows_per_band - 1) / c.rows_per_band;
  };
  recount();
  const int64_t wanted = degree > 1 ? 4 * degree : 1;
  while (c.units() < wanted && c.panels_per_group > 2) {
    c.panels_per_group = (c.panels_per_group + 1) / 2;
    recount();
  }
  while (c.units() < wanted && c.rows_per_band > kBandTiles * w.kernels->tile_rows) {
    const int64_t tile = w.kernels->tile_rows;
    c.rows_per_band = (c.rows_per_band / 2 + tile - 1) / tile * tile;
    recount();
  }
}

void conv_dense(base::ThreadPool* pool, const ConvGeometry& g, const float* x, const PackedConvWeights::Storage& w,
                const ConvEpilogue& epilogue, float* y) {
  bool pointwise = true;
  for (int i = 0; i < 3; ++i) {
    pointwise = pointwise && g.kernel[i] == 1 && g.stride[i] == 1 && g.pad_begin[i] == 0 && g.in[i] == g.out[i];
  }
  Conv c{g,         x, w, epilogue, y, *kernels().conv_f32, PanelSplit(volume(g.out), *w.kernels, w.kernels->lanes / 4),
         pointwise, 0, 0, 0,        0};
  divide(c, pool == nullptr ? 1 : pool->degree());
  const double flops = 2.0 * static_cast<double>(volume(g.out)) * static_cast<double>(g.out_channels) *
                       static_cast<double>(w.group_depth * w.taps) * static_cast<double>(g.batch) /
                       static_cast<double>(c.units());
  base::parallel_for(pool, c.units(), static_cast<int64_t>(kGrainFlops / (flops + 1)) + 1,
                     [&c](int64_t begin, int64_t end) {
                       for (int64_t unit = begin; unit < end; ++unit) run_band(c, unit);
                     });
}

// Every output plane, by what prepare() returns once for each piece of the work.
template <class Prepare>
void for_each_plane(base::ThreadPool* pool, const ConvGeometry& g, int64_t taps, Prepare prepare) {
  const double flops = 2.0 * static_cast<double>(volume(g.out) * taps);
  base::parallel_for(pool, g.batch * g.out_channels, static_cast<int64_t>(kGrainFlops / 8 / flops) + 1,
                     [&](int64_t begin, int64_t end) {
                       auto run = prepare();
                       for (int64_t plane = begin; plane < end; ++plane) run(plane);
                     });
}

// The depthwise convolution of one call, plane by plane.
struct Depthwise {
  const ConvGeometry& geometry;
  const float* x;
  const PackedConvWeights::Storage& weights;
  const ConvEpilogue& epilogue;
  float* y;
  Clamp clamp = clamp_of(epilogue.activation);
  int64_t in_plane = volume(geometry.in), out_plane = volume(geometry.out);

  int64_t channel(int64_t plane) const { return plane % geometry.out_channels; }
  const float* input(int64_t plane) const {
    const int64_t image = plane / geometry.out_channels;
    return x + (image * geometry.in_channels + channel(plane) / weights.group_rows) * in_plane;
  }
  const float* taps(int64_t plane) const { return weights.data.as<float>() + channel(plane) * weights.taps; }
  float bias(int64_t plane) const { return epilogue.bias == nullptr ? 0 : epilogue.bias[channel(plane)]; }
  const float* residual(int64_t plane) const {
    return epilogue.residual == nullptr ? nullptr : epilogue.residual + plane * out_plane;
  }
  float* output(int64_t plane) const { return y + plane * out_plane; }
  void activate(int64_t plane) const {
    if (is_clamp(epilogue.activation.op)) return;
    unary(epilogue.activation, output(plane), output(plane), out_plane);
  }
};

void depthwise_from_input(base::ThreadPool* pool, const Depthwise& d, DepthwiseDirect kernel) {
  const ConvGeometry& g = d.geometry;
  for_each_plane(pool, g, d.weights.taps, [&] {
    float* zeros = thread_scratch<float>(Scratch::kColumns, g.in[2]);
    std::fill_n(zeros, g.in[2], 0.0f);
    return [&d, &g, kernel, zeros](int64_t plane) {
      kernel({d.input(plane), g.in[1], g.in[2], g.pad_begin[1], g.pad_begin[2], zeros, d.taps(plane), g.out[1],
              g.out[2], d.bias(plane), d.residual(plane), d.clamp.low, d.clamp.high, d.output(plane)});
      d.activate(plane);
    };
  });
}

void depthwise_from_spread(base::ThreadPool* pool, const Depthwise& d) {
  const ConvGeometry& g = d.geometry;
  const DepthwiseLayout layout(g);
  const auto& kernel = *kernels().conv_f32;
  AlignedBuffer offsets(static_cast<size_t>(d.weights.taps) * sizeof(int64_t));
  layout.offsets(g, offsets.as<int64_t>());
  for_each_plane(pool, g, d.weights.taps, [&] {
    float* spread = thread_scratch<float>(Scratch::kColumns, layout.size());
    float* scratch = thread_scratch<float>(Scratch::kTile, layout.scratch(g));
    std::fill_n(spread, layout.size(), 0.0f);
    return [&, spread, scratch](int64_t plane) {
      kernel.spread_plane(g, d.input(plane), layout.plane(), layout.row(), spread);
      kernel.depthwise({spread, layout.row(), d.taps(plane), offsets.as<int64_t>(), d.weights.taps, g.out[1], g.out[2],
                        d.bias(plane), d.residual(plane), d.clamp.low, d.clamp.high, d.output(plane), scratch});
      d.activate(plane);
    };
  });
}

DepthwiseDirect direct_kernel(const ConvGeometry& g) {
  const bool square = g.kernel[1] == g.kernel[2] && g.stride[1] == g.stride[2];
  if (!square || g.dilation[1] != 1 || g.dilation[2] != 1) return nullptr;
  return kernels().conv_f32->direct_depthwise(g.kernel[1], g.stride[1]);
}

void conv_depthwise(base::ThreadPool* pool, const ConvGeometry& g, const float* x, const PackedConvWeights::Storage& w,
                    const ConvEpilogue& epilogue, float* y) {
  const Depthwise d{g, x, w, epilogue, y};
  if (const DepthwiseDirect kernel = direct_kernel(g)) {
    depthwise_from_input(pool, d, kernel);
  } else {
    depthwise_from_spread(pool, d);
  }
}

}  // namespace

void check_padding(const ConvGeometry& g) {
  double padded = 1, present = 1 << 20;
  for (int a = 0; a < 3; ++a) {
    const double reach = static_cast<double>(g.out[a] - 1) * static_cast<double>(g.stride[a]) +
                         static_cast<double>(g.kernel[a] - 1) * static_cast<double>(g.dilation[a]) + 1;
    padded *= std::max(reach, static_cast<double>(g.in[a]) + static_cast<double>(g.pad_begin[a])) +
              static_cast<double>(g.stride[a]);
  }
  present += 64.0 * (static_cast<double>(volume(g.in)) + static_cast<double>(volume(g.out)));
  base::require(padded <= present, base::ErrorCode::kInvalidArgument, "convolution: an input plane of ", volume(g.in),
                " elements becomes ", padded, " with its padding; give smaller pads, strides or dilations");
}

DepthwiseLayout::DepthwiseLayout(const ConvGeometry& g) {
  check_padding(g);
  int64_t size[3];
  for (int a = 1; a < 3; ++a) {
    const int64_t reach = (g.out[a] - 1) * g.stride[a] + (g.kernel[a] - 1) * g.dilation[a] + 1;
    size[a] = (std::max(reach, g.in[a] + g.pad_begin[a]) + g.stride[a] - 1) / g.stride[a];
  }
  phases_ = g.stride[1] * g.stride[2];
  row_ = size[2];
  plane_ = size[1] * size[2];
}

void DepthwiseLayout::offsets(const ConvGeometry& g, int64_t* to) const {
  for (int64_t h = 0; h < g.kernel[1]; ++h) {
    for (int64_t w = 0; w < g.kernel[2]; ++w) {
      const int64_t at_h = h * g.dilation[1], at_w = w * g.dilation[2];
      const int64_t phase = at_h % g.stride[1] * g.stride[2] + at_w % g.stride[2];
      *to++ = phase * plane_ + at_h / g.stride[1] * row_ + at_w / g.stride[2];
    }
  }
}

PackedConvWeights pack_conv_weights(base::ThreadPool* pool, const ConvGeometry& g, const float* weights,
                                    const GemmF32Kernels* chosen) {
  auto storage = std::make_unique<PackedConvWeights::Storage>();
  auto& s = *storage;
  s.kernels = chosen != nullptr ? chosen : kernels().gemm_f32;
  s.group_rows = g.out_channels / g.groups;
  s.group_depth = g.in_channels / g.groups;
  s.taps = volume(g.kernel);
  s.depthwise = is_depthwise(g);
  const int64_t blocks = std::max<int64_t>(1, (s.group_depth * s.taps + kLongestSum - 1) / kLongestSum);
  s.channels_per_block = std::max<int64_t>(1, (s.group_depth + blocks - 1) / blocks);
  const int64_t k = s.group_depth * s.taps;
  s.winograd = suits_winograd(g, s.kernels->lanes);
  if (s.winograd) {
    s.data = AlignedBuffer(static_cast<size_t>(winograd_weights_size(g, *s.kernels)) * sizeof(float) + 4096,
                           Lifetime::kSession);
    transform_winograd_weights(pool, g, *s.kernels, weights, s.data.as<float>());
  } else if (s.depthwise) {
    s.data = AlignedBuffer(static_cast<size_t>(g.out_channels) * k * sizeof(float), Lifetime::kSession);
    if (g.out_channels * k > 0) std::copy(weights, weights + g.out_channels * k, s.data.as<float>());
  } else {
    s.data =
        AlignedBuffer(static_cast<size_t>(g.groups) * s.padded_rows() * k * sizeof(float) + 4096, Lifetime::kSession);
    pack_dense(pool, s, g.groups, weights, s.data.as<float>());
  }
  return PackedConvWeights(std::move(storage));
}

void conv(base::ThreadPool* pool, const ConvGeometry& g, const float* x, const PackedConvWeights& weights,
          const ConvEpilogue& epilogue, float* y) {
  const auto& w = *weights.storage();
  if (g.batch * g.out_channels * volume(g.out) == 0) return;
  if (w.winograd) {
    conv_winograd(pool, g, x, w.data.as<float>(), *w.kernels, epilogue, y);
  } else if (w.depthwise) {
    conv_depthwise(pool, g, x, w, epilogue, y);
  } else {
    conv_dense(pool, g, x, w, epilogue, y);
  }
}

}  // namespace ortolan::cpu::kernels
