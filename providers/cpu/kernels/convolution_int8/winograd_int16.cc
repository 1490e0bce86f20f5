// Exact 3x3 convolution of bytes by Winograd's transforms: tiles of a panel, their products with the weights,
// transformed back.
#include "cpu/kernels/convolution_int8/winograd_int16.h"

#include <algorithm>
#include <array>

#include "base/memory/packed_parts.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/convolution/conv_division.h"
#include "cpu/kernels/convolution/conv_f32_kernels.h"
#include "cpu/kernels/convolution_int8/conv_int8_words.h"
#include "cpu/kernels/division/threads.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/quantised/int8_division.h"
#include "cpu/kernels/scratch.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr int kLargestSide = 6;              // of a tile
constexpr int64_t kLeastChannels = 16;       // on either side
constexpr int64_t kLargestOfFour = 1 << 16;  // input times output channels: more take long to read
constexpr int64_t kLargestOfTwo = 1 << 18;
constexpr int64_t kSumsNear = 32 << 10;  // products of a panel that stay in the caches until they are outputs
constexpr int64_t kSkewWords = 16;       // of a cache line, so that positions do not fall into the same sets
constexpr int64_t kSlackWords = 1024;

// Filters times the denominators of their transforms.
using FilterLine = std::array<int32_t, kLargestSide>;
FilterLine transform_filter_line(int outputs, int32_t a, int32_t b, int32_t c) {
  if (outputs == 2) return {a, a + b + c, a - b + c, c};
  return {a, -a - b - c, -a + b - c, a + 2 * b + 4 * c, a - 2 * b + 4 * c, c};
}

// The element for each position of a tile.
void transform_filter(int outputs, const int32_t (&w)[9], int32_t* to) {
  FilterLine columns[3];
  for (int j = 0; j < 3; ++j) columns[j] = transform_filter_line(outputs, w[j], w[3 + j], w[6 + j]);
  for (int i = 0; i < outputs + 2; ++i) {
    const FilterLine line = transform_filter_line(outputs, columns[0][i], columns[1][i], columns[2][i]);
    std::copy_n(line.begin(), outputs + 2, to + i * (outputs + 2));
  }
}

// The most that an output can be either way, of bytes with a sign (128 each way) or without (255 one way).
int64_t largest_output(const ConvGeometry& g, const uint8_t* weights, bool is_signed, int32_t shift) {
  const int64_t count = g.in_channels * 9;
  int64_t largest = 255 * count;  // the sum of windows
  for (int64_t row = 0; row < g.out_channels; ++row) {
    int64_t above = 0, below = 0;
    for (int64_t i = 0; i < count; ++i) {
      const int32_t weight = byte_at(weights, row * count + i, is_signed) + shift;
      above += std::max(weight, 0), below -= std::min(weight, 0);
    }
    largest = std::max({largest, 255 * std::max(above, below), 128 * (above + below)});
  }
  return largest;
}

// Outputs of a tile on a side, two for each of them: the bits of an output beside those of its factor.
int exact_outputs(int most, int64_t largest) {
  constexpr int kFactorBits[] = {2, 6};
  for (int half = most / 2; half > 0; --half) {
    if (largest < int64_t{1} << (31 - kFactorBits[half - 1])) return half;
  }
  return 0;
}

struct WinogradWords {
  const ConvGeometry& g;
  const ConvInt8& operands;
  const std::vector<int32_t>& w_zeros;
  const WinogradInt16Weights& w;
  const Requantization* after;
  void* y;
  const WinogradInt16Transforms& transforms;
  int64_t tiles_h, tiles_w;
  WordPlanes planes;
  PanelSplit split;
  std::vector<int32_t> add{};  // to the sums of each channel
  bool needs_windows = false;
  int64_t first_image = 0, images = 0;
  PreparedDivision division{};
  const int32_t* words = nullptr;  // of these images
  Scratch<int32_t> transformed{};  // the tiles of all their panels, where they are transformed before all else

  int64_t depth() const { return w.words(); }
  int64_t slices() const { return images * g.out[0]; }
  const int32_t* words_of(int64_t slice) const {
    return words + slice / g.out[0] * planes.image() + slice % g.out[0] * planes.size[1] * planes.size[2];
  }
  int64_t first_output(int64_t slice, int64_t channel) const {
    const int64_t plane = (first_image + slice / g.out[0]) * g.out_channels + channel;
    return (plane * g.out[0] + slice % g.out[0]) * g.out[1] * g.out[2];
  }
  // Words from one position's part to the next one's.
  static int64_t step(int64_t lines, int64_t width) { return lines * width + kSkewWords; }
  int64_t tiles_size(int64_t width) const { return w.positions() * step(depth(), width); }
  int64_t last_panel(int64_t group) const { return std::min(split.count(), (group + 1) * division.grid.height); }
  int32_t* transformed_at(int64_t slice, int64_t panel) const {
    const int64_t columns = slice * split.padded() + split.first_column(panel);
    return transformed.data() + w.positions() * (columns * depth() + (slice * split.count() + panel) * kSkewWords);
  }
  PreparedGrid grid_of(int64_t count) const {
    const PanelConv size{count * g.out[0], g.out_channels, depth(), split, w.kernels().lanes, w.kernels().tile_rows};
    return winograd_grid(size, w.positions());
  }
};

// Where the tiles of a panel lie.
struct PanelPlaces {
  TilePlace places[kMostColumns];
  bool rows[kMostColumns];

  PanelPlaces(const WinogradWords& job, int64_t panel) {
    const int64_t first = job.split.first_column(panel), columns = job.split.columns(panel);
    const int64_t width = job.split.width(panel), lanes = job.w.kernels().lanes;
    for (int64_t c = 0; c < width; ++c) places[c] = c < columns ? place_of(job, first + c) : TilePlace{0, 0, 0, 0};
    for (int64_t v = 0; v < width / lanes; ++v) rows[v] = in_one_row(job, places + v * lanes, lanes);
  }

 private:
  static TilePlace place_of(const WinogradWords& job, int64_t tile) {
    const int64_t size = job.w.outputs(), top = tile / job.tiles_w * size, left = tile % job.tiles_w * size;
    return {top * job.planes.size[2] + left, top * job.g.out[2] + left,
            static_cast<int32_t>(std::min(size, job.g.out[1] - top)),
            static_cast<int32_t>(std::min(size, job.g.out[2] - left))};
  }
  static bool in_one_row(const WinogradWords& job, const TilePlace* tiles, int64_t count) {
    const int size = job.w.outputs();
    for (int64_t i = 0; i < count; ++i) {
      if (tiles[i].rows != size || tiles[i].columns != size) return false;
      if (tiles[i].in != tiles[0].in + i * size) return false;
    }
    return true;
  }
};

PanelTiles tiles_of(const WinogradWords& job, const PanelPlaces& places, int64_t panel, int64_t lines) {
  const int64_t width = job.split.width(panel);
  return {places.places, job.split.columns(panel), width, WinogradWords::step(lines, width), places.rows};
}

// Planes [first, last) of a panel of words.
void transform_words_of(const WinogradWords& job, int64_t slice, int64_t panel, int64_t first, int64_t last,
                        int32_t* v) {
  const PanelPlaces places(job, panel);
  const int64_t plane = job.planes.plane();
  const WordTiles words{job.words_of(slice) + first * plane, last - first, plane, job.planes.size[2],
                        v + first * job.split.width(panel)};
  job.transforms.input(words, tiles_of(job, places, panel, job.depth()));
}

void transform_all_words(base::ThreadPool* pool, WinogradWords& job, const PreparedGrid& grid) {
  const int64_t depth = job.depth(), panels = job.split.count(), pieces = grid.pieces;
  const int64_t of_slice = job.w.positions() * (job.split.padded() * depth + panels * kSkewWords);
  const double piece_ns = grid.prepare_ns / static_cast<double>(pieces);
  job.transformed = Scratch<int32_t>(job.slices() * of_slice + kSlackWords);
  base::parallel_for(pool, job.slices() * panels * pieces, least_items(piece_ns), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % pieces * kTransformedAtOnce, panel = i / pieces % panels, at = i / pieces / panels;
      transform_words_of(job, at, panel, first, std::min(first + kTransformedAtOnce, depth),
                         job.transformed_at(at, panel));
    }
  });
}

// All products of one panel for rows [row, row + rows).
void multiply_words(const WinogradWords& job, int64_t panel, int64_t row, int64_t rows, const int32_t* v, int32_t* m) {
  const int64_t width = job.split.width(panel), depth = job.depth(), positions = job.w.positions();
  const auto weights = [&](int64_t i) {
    return reinterpret_cast<const uint8_t*>(job.w.matrix(static_cast<int>(i)) + row * depth);
  };
  for (int64_t i = 0; i < positions; ++i) {
    Int8Block block{weights(i),
                    depth * 4,
                    v + i * WinogradWords::step(depth, width),
                    m + i * WinogradWords::step(rows, width),
                    width,
                    rows,
                    width,
                    depth};
    if (i + 1 < positions) block.next = weights(i + 1), block.next_bytes = rows * depth * 4;
    job.w.kernels().block(job.split.vectors(panel), block);
  }
}

// One panel of one slice, rows [first, last).
void run_panel(const WinogradWords& job, int64_t slice, int64_t panel, int64_t first, int64_t last, const int32_t* v) {
  const int64_t width = job.split.width(panel);
  const PanelPlaces places(job, panel);
  const int64_t at_once = std::max<int64_t>(1, kSumsNear / (job.w.positions() * width * job.w.kernels().tile_rows)) *
                          job.w.kernels().tile_rows;
  const Scratch<int32_t> products(job.w.positions() * WinogradWords::step(at_once, width));
  const Scratch<int32_t> windows_space(job.needs_windows ? width * job.w.outputs() * job.w.outputs() : 0);
  int32_t* const m = products.data();
  const int32_t* windows = nullptr;
  if (job.needs_windows) {
    multiply_words(job, panel, job.g.out_channels, 1, v, m);
    job.transforms.to_windows(m, tiles_of(job, places, panel, 1), windows_space.data());
    windows = windows_space.data();
  }
  for (int64_t row = first; row < last; row += at_once) {
    const int64_t rows = std::min(at_once, last - row);
    multiply_words(job, panel, row, rows, v, m);
    TileSums sums{m, rows, job.add.data() + row, job.w_zeros.data() + row, windows};
    sums.row = job.g.out[2], sums.plane = volume(job.g.out);
    const int64_t at = job.first_output(slice, row);
    if (job.after != nullptr) {
      sums.scale_per_channel = job.after->scale_per_channel;
      sums.scale = job.after->scale + (sums.scale_per_channel ? row : 0);
      sums.y_zero = job.after->y_zero, sums.y_signed = job.after->y_signed;
      sums.y = static_cast<uint8_t*>(job.y) + at;
    } else {
      sums.y = static_cast<int32_t*>(job.y) + at;
    }
    job.transforms.output(sums, tiles_of(job, places, panel, rows));
  }
}

void run_words(const WinogradWords& job, int64_t task) {
  const GridDivision& d = job.division.grid;
  const int64_t band = task % d.across, group = task / d.across % d.down, slice = task / d.tasks();
  const int64_t most = d.width * job.w.kernels().tile_rows, row = band * most;
  for (int64_t panel = group * d.height; panel < job.last_panel(group); ++panel) {
    const int64_t last = std::min(row + most, job.g.out_channels);
    if (job.division.together) {
      run_panel(job, slice, panel, row, last, job.transformed_at(slice, panel));
      continue;
    }
    const Scratch<int32_t> tiles(job.tiles_size(job.split.width(panel)) + kSlackWords);
    transform_words_of(job, slice, panel, 0, job.depth(), tiles.data());
    run_panel(job, slice, panel, row, last, tiles.data());
  }
}

// The true sum is that of (w - w_zero) * (x - x_zero); what does not depend on x is added, and the bias.
std::vector<int32_t> added_to(const WinogradWords& job) {
  const auto k = static_cast<uint32_t>(job.g.in_channels * 9), x_zero = static_cast<uint32_t>(job.operands.x_zero);
  std::vector<int32_t> add(job.g.out_channels);
  for (int64_t c = 0; c < job.g.out_channels; ++c) {
    uint32_t sum = k * static_cast<uint32_t>(job.w_zeros[c]) * x_zero;
    sum -= static_cast<uint32_t>(job.w.row_sums()[c]) * x_zero;
    if (job.after != nullptr && job.after->bias != nullptr) sum += static_cast<uint32_t>(job.after->bias[c]);
    add[c] = static_cast<int32_t>(sum);
  }
  return add;
}

}  // namespace

int winograd_int16_outputs(const ConvGeometry& g, const GemmInt8Kernels& kernels, int64_t positions) {
  const bool three_by_three = g.kernel[0] == 1 && g.kernel[1] == 3 && g.kernel[2] == 3 && g.groups == 1;
  for (int a = 0; a < 3; ++a) {
    if (g.stride[a] != 1 || g.dilation[a] != 1) return 0;
  }
  const int64_t channels = g.in_channels * g.out_channels;
  const bool few = std::min(g.in_channels, g.out_channels) < kLeastChannels;
  if (!three_by_three || kernels.group != 2 || kernels.lanes < 8 || few || channels > kLargestOfTwo) return 0;
  if (positions > 0 && positions < 16) return 0;
  return channels <= kLargestOfFour ? 4 : 2;
}

WinogradInt16Weights::WinogradInt16Weights(const ConvGeometry& g, const GemmInt8Kernels& kernels,
                                           const uint8_t* weights, bool is_signed, int most_outputs)
    : kernels_(&kernels), shift_(is_signed ? 0 : -128), channels_(g.out_channels), words_((g.in_channels + 1) / 2) {
  const auto exact = [&] {
    return static_cast<uint8_t>(exact_outputs(most_outputs, largest_output(g, weights, is_signed, shift_)));
  };
  outputs_ = 2 * base::packed_choice(static_cast<uint8_t>(most_outputs / 2 + 1), exact);
  if (outputs_ == 0) return;
  const int64_t words = positions() * (channels_ + 1) * words_ + channels_;
  data_ = AlignedBuffer(static_cast<size_t>(words) * sizeof(int32_t), Lifetime::kSession);
  if (!base::parts_are_kept()) fill(g, weights, is_signed);
}

void WinogradInt16Weights::fill(const ConvGeometry& g, const uint8_t* weights, bool is_signed) {
  auto* sums = data_.as<int32_t>() + positions() * (channels_ + 1) * words_;
  const int64_t line = 2 * words_;
  std::vector<int16_t> lines(static_cast<size_t>(positions() * line));  // of one channel, for each position
  for (int64_t row = 0; row <= channels_; ++row) {
    int32_t sum = 0;
    for (int64_t c = 0; c < g.in_channels; ++c) {
      int32_t w[9], transformed[kLargestSide * kLargestSide];
      for (int i = 0; i < 9; ++i) {
        w[i] = row == channels_ ? 1 : byte_at(weights, (row * g.in_channels + c) * 9 + i, is_signed) + shift_;
        sum += w[i];
      }
      transform_filter(outputs_, w, transformed);
      for (int p = 0; p < positions(); ++p) lines[p * line + c] = static_cast<int16_t>(transformed[p]);
    }
    for (int p = 0; p < positions(); ++p) {
      std::copy_n(lines.data() + p * line, line, data_.as<int16_t>() + (p * (channels_ + 1) + row) * line);
    }
    if (row < channels_) sums[row] = sum;
  }
}

void conv_winograd_int16(base::ThreadPool* pool, const ConvGeometry& g, const ConvInt8& operands,
                         const std::vector<int32_t>& w_zeros, const WinogradInt16Weights& weights,
                         const Requantization* after, void* y) {
  const int64_t size = weights.outputs(), tiles_h = divide_up(g.out[1], size), tiles_w = divide_up(g.out[2], size);
  check_padding(g);
  const auto in_of = [&](int a, int64_t read) { return std::max(read, g.in[a] + g.pad_begin[a]); };
  WinogradWords job{g,
                    operands,
                    w_zeros,
                    weights,
                    after,
                    y,
                    kernels().winograd_int16->of_outputs[size / 2 - 1],
                    tiles_h,
                    tiles_w,
                    {g,
                     operands,
                     weights.kernels(),
                     {in_of(0, g.out[0]), in_of(1, tiles_h * size + 2), in_of(2, tiles_w * size + 2)}},
                    PanelSplit(tiles_h * tiles_w, weights.kernels())};
  job.add = added_to(job);
  job.needs_windows = std::any_of(w_zeros.begin(), w_zeros.end(), [](int32_t zero) { return zero != 0; });
  const int64_t bytes = job.planes.image() * int64_t{sizeof(int32_t)};
  const int64_t most = images_at_once(g.batch, units_ns(job.grid_of(1).grid), bytes, threads_of(pool));
  const Scratch<int32_t> words(most * job.planes.image());
  job.words = words.data();
  for (; job.first_image < g.batch; job.first_image += most) {
    job.images = std::min(most, g.batch - job.first_image);
    interleave_images(pool, job.planes, job.first_image, job.images, words.data());
    const PreparedGrid grid = job.grid_of(job.images);
    job.division = divide_prepared(grid, threads_of(pool));
    if (job.division.together) transform_all_words(pool, job, grid);
    base::parallel_for(pool, job.slices() * job.division.grid.tasks(), job.division.grain,
                       [&](int64_t begin, int64_t end) {
                         for (int64_t task = begin; task < end; ++task) run_words(job, task);
                       });
    job.transformed = {};
  }
}

}  // namespace ortolan::cpu::kernels
