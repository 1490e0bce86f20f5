// Convolution of bytes in tiles: the image as words of four channels, its rows and columns sorted by their remainder by
// the strides, so that each tap meets neighbouring outputs at neighbouring words.
#include "cpu/kernels/convolution_int8/conv_int8_tiles.h"

#include <algorithm>
#include <cstring>

#include "base/memory/packed_parts.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/convolution/conv_f32_kernels.h"
#include "cpu/kernels/division/threads.h"
#include "cpu/kernels/quantised/gemm_int8_kernels.h"
#include "cpu/kernels/quantised/int8_division.h"
#include "cpu/kernels/scratch.h"
#include "cpu/kernels/vectors/lengths.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr int64_t kTileRows = 16, kTileWords = 16, kTileBytes = 1024;
constexpr int64_t kPair = 2 * kTileRows;  // channels of a block
constexpr double kSpreadNs = 0.5;         // a word of the image
constexpr int64_t kLeastRows = 8, kLeastLines = 4;

// An odd number of cache lines, so that lines one below the other do not compete for their place.
int64_t spaced(int64_t words) { return round_up(words, 16) | 16; }
}  // namespace

bool TileConvWeights::suit(const ConvGeometry& g) {
  const int64_t words = (g.in_channels / g.groups + 3) / 4;
  return g.kernel[0] == 1 && g.stride[0] == 1 && g.out_channels / g.groups >= kLeastRows &&
         words * volume(g.kernel) >= kLeastLines;
}

TileConvWeights::TileConvWeights(const ConvGeometry& g, const uint8_t* weights, bool is_signed,
                                 const TileConvKernels& kernels)
    : kernels_(&kernels),
      is_signed_(is_signed),
      rows_(g.out_channels / g.groups),
      depth_(g.in_channels / g.groups),
      taps_(volume(g.kernel)),
      row_sums_(static_cast<size_t>(g.out_channels) * sizeof(int32_t), Lifetime::kSession) {
  const int64_t dense = round_up(words() * taps_, kTileWords), straight = round_up(words(), kTileWords) * taps_;
  gathered_ = 4 * straight > 5 * dense;
  lines_ = gathered_ ? dense : straight;
  data_ = AlignedBuffer(static_cast<size_t>(g.groups * row_tiles() * lines_ * 64), Lifetime::kSession);
  if (base::parts_are_kept()) return;
  std::memset(data_.as<void>(), 0, data_.bytes());
  for (int64_t i = 0; i < g.out_channels; ++i) pack_row(i / rows_, i % rows_, weights + i * depth_ * taps_);
}

uint8_t* TileConvWeights::place(int64_t group, int64_t row, int64_t line) {
  const int64_t pair = row / kPair * 2, high = std::min<int64_t>(2, row_tiles() - pair);
  return data_.as<uint8_t>() + (group * row_tiles() + pair) * lines_ * 64 +
         (line / kTileWords * high + row % kPair / kTileRows) * kTileBytes + row % kTileRows * 64 +
         line % kTileWords * 4;
}

void TileConvWeights::pack_row(int64_t group, int64_t row, const uint8_t* weights) {
  int32_t sum = 0;
  for (int64_t c = 0; c < depth_; c += 4) {
    const int64_t count = std::min<int64_t>(4, depth_ - c);
    for (int64_t tap = 0; tap < taps_; ++tap) {
      uint8_t word[4] = {};
      for (int64_t i = 0; i < count; ++i) {
        word[i] = weights[(c + i) * taps_ + tap];
        sum += byte_at(word, i, is_signed_);
      }
      std::memcpy(place(group, row, line(c / 4, tap)), word, 4);
    }
  }
  row_sums_.as<int32_t>()[group * rows_ + row] = sum;
}

namespace {

// Slices of images through one set of weights, some at a time.
struct TileJob {
  const ConvGeometry& g;
  const ConvInt8& operands;
  const TileConvWeights& w;
  const DepthwiseLayout layout;

  int64_t pitch = spaced(layout.size());  // words from one plane to the next
  std::vector<int64_t> offsets, steps;    // of each tap in a plane; of each step of 16 lines, unless gathered
  std::vector<int32_t> w_zeros;           // of each output channel
  std::vector<uint8_t> ones;              // weights that sum columns; empty where nothing needs them
  int64_t positions;                      // run on over the ends of rows

  // The slices at hand.
  int64_t first_slice = 0, slices = 0;
  int32_t* words = nullptr;
  Grid grid{};
  GridDivision division{};

  TileJob(const ConvGeometry& g, const ConvInt8& operands, const TileConvWeights& w);
  // Of all planes of a slice.
  int64_t slice_words() const { return g.groups * w.words() * pitch; }
  // Of so many slices and what tiles read past the last one, of which only the weights say that it does not matter.
  int64_t words_of(int64_t count) const {
    const int64_t past = w.gathered() ? 0 : round_up(w.words(), kTileWords) - w.words();
    return count * slice_words() + past * pitch + kPair;
  }
  bool padded() const { return layout.size() - DepthwiseLayout::kSlack != g.in[1] * g.in[2]; }
  Grid grid_of(int64_t count) const {
    return tile_conv_grid({count * g.groups, w.rows(), w.lines(), positions, w.gathered()});
  }
  int64_t band_positions() const { return division.height * kTileRows; }
  int64_t band_pairs() const { return division.across == 1 ? pairs() : division.width; }
  int64_t ld() const { return spaced(band_positions()); }
  int64_t step_count() const { return w.lines() / kTileWords; }
  int64_t pairs() const { return (w.row_tiles() + 1) / 2; }

 private:
  void set_steps();
  void set_ones();
};

TileJob::TileJob(const ConvGeometry& geometry, const ConvInt8& in, const TileConvWeights& weights)
    : g(geometry), operands(in), w(weights), layout(geometry), offsets(weights.taps()), w_zeros(geometry.out_channels) {
  layout.offsets(g, offsets.data());
  if (!w.gathered()) set_steps();
  if (in.w_zero != nullptr) {
    for (int64_t c = 0; c < g.out_channels; ++c) {
      w_zeros[c] = byte_at(in.w_zero, in.w_zero_per_channel ? c : 0, w.is_signed());
    }
  }
  if (std::any_of(w_zeros.begin(), w_zeros.end(), [](int32_t zero) { return zero != 0; })) set_ones();
  positions = (g.out[1] - 1) * layout.row() + g.out[2];
}

void TileJob::set_steps() {
  for (int64_t word = 0; word < w.words(); word += kTileWords) {
    for (const int64_t offset : offsets) steps.push_back(word * pitch + offset);
  }
}

void TileJob::set_ones() {
  ones.assign(step_count() * kTileBytes, 0);
  for (int64_t c = 0; c < w.depth(); ++c) {
    for (int64_t tap = 0; tap < w.taps(); ++tap) {
      const int64_t line = w.line(c / 4, tap);
      ones[line / kTileWords * kTileBytes + line % kTileWords * 4 + c % 4] = 1;
    }
  }
}

void fill_padding(const TileJob& job, int32_t* plane) {
  std::memset(plane, job.operands.x_zero & 0xff, (job.layout.size() - DepthwiseLayout::kSlack) * sizeof(int32_t));
}

// Words of a plane of four channels in the order of the layout, with the zero point where the padding is.
void spread_words(const TileJob& job, const uint8_t* x, int64_t channel_step, int64_t channels, int32_t* scratch,
                  int32_t* to) {
  const int64_t plane = job.g.in[1] * job.g.in[2];
  const uint8_t* rows[4];
  for (int64_t i = 0; i < 4; ++i) rows[i] = x + std::min(i, channels - 1) * channel_step;
  if (job.padded()) fill_padding(job, to);
  job.w.kernels().join_rows(rows, plane, scratch, scratch + plane);
  kernels().conv_f32->spread_plane(job.g, reinterpret_cast<const float*>(scratch), job.layout.plane(), job.layout.row(),
                                   reinterpret_cast<float*>(to));
}

// Slice d of the result reads d - pad of the image, or padding.
void spread_slices(base::ThreadPool* pool, const TileJob& job) {
  const int64_t planes = job.g.groups * job.w.words(), slice_size = job.g.in[1] * job.g.in[2];
  const int64_t plane = slice_size * job.g.in[0];
  const double plane_ns = static_cast<double>(job.layout.size()) * kSpreadNs;
  base::parallel_for(pool, job.slices * planes, least_items(plane_ns), [&](int64_t begin, int64_t end) {
    const Scratch<int32_t> scratch(2 * slice_size);
    std::fill_n(scratch.data() + slice_size, slice_size, 0);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t slice = job.first_slice + i / planes, d = slice % job.g.out[0] - job.g.pad_begin[0];
      int32_t* to = job.words + i * job.pitch;
      if (d < 0 || d >= job.g.in[0]) {
        fill_padding(job, to);
        continue;
      }
      const int64_t first = i % job.w.words() * 4;
      const int64_t channel = i % planes / job.w.words() * job.w.depth() + first;
      const auto* x = static_cast<const uint8_t*>(job.operands.x) +
                      (slice / job.g.out[0] * job.g.in_channels + channel) * plane + d * slice_size;
      spread_words(job, x, plane, std::min<int64_t>(4, job.w.depth() - first), scratch.data(), to);
    }
  });
}

struct Tiles {
  explicit Tiles(const TileConvKernels& kernels) : kernels(kernels) { kernels.begin(); }
  ~Tiles() { kernels.end(); }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;
  const TileConvKernels& kernels;
};

// The right operand of one band.
struct Lines {
  const int32_t* x;
  int64_t pitch;
  const int64_t* steps;
};

struct UnitScratch {
  explicit UnitScratch(const TileJob& job)
      : sums(3 * kPair / 2 * job.ld()),
        lines(job.w.gathered() ? job.w.lines() * job.ld() : 0),
        steps(job.w.gathered() ? job.step_count() : 0) {
    for (size_t s = 0; s < steps.size(); ++s) steps[s] = static_cast<int64_t>(s) * kTileWords * job.ld();
  }
  Scratch<int32_t> sums;  // of a block of channels, then of columns
  Scratch<int32_t> lines;
  std::vector<int64_t> steps;
};

Lines gather_lines(const TileJob& job, const int32_t* x, int64_t count, const UnitScratch& scratch) {
  for (int64_t word = 0; word < job.w.words(); ++word) {
    for (int64_t tap = 0; tap < job.w.taps(); ++tap) {
      std::copy_n(x + word * job.pitch + job.offsets[tap], count,
                  scratch.lines.data() + job.w.line(word, tap) * job.ld());
    }
  }
  return {scratch.lines.data(), job.ld(), scratch.steps.data()};
}

// Calls finish for each stretch of positions that lies in one output row.
void finish_rows(const TileJob& job, int64_t plane, int64_t slice, int64_t first, int64_t count, ChannelSums sums,
                 FinishSums finish) {
  const int32_t *c = sums.c, *column_sum = sums.column_sum;
  const int64_t row = job.layout.row(), width = job.g.out[2];
  const int64_t unbroken = row == width ? job.positions : row;
  for (int64_t at = 0; at < count;) {
    const int64_t h = (first + at) / unbroken, w = (first + at) % unbroken;
    sums.columns = std::min((row == width ? job.positions : width) - w, count - at);
    if (sums.columns > 0) {
      sums.c = c + at;
      if (column_sum != nullptr) sums.column_sum = column_sum + at;
      finish(plane, (slice * job.g.out[1] + h) * width + w, sums);
    }
    at += unbroken - w;
  }
}

// What is added to the sums of each channel of a block: they are of (w - w_zero) * (x - x_zero).
void set_row_add(const TileJob& job, int64_t group, int64_t row, int64_t count, int32_t* row_add) {
  const auto k = static_cast<uint32_t>(job.w.depth() * job.w.taps()),
             x_zero = static_cast<uint32_t>(job.operands.x_zero);
  for (int64_t i = 0; i < count; ++i) {
    const auto w_zero = static_cast<uint32_t>(job.w_zeros[group * job.w.rows() + row + i]);
    const auto row_sum = static_cast<uint32_t>(job.w.row_sums(group)[row + i]);
    row_add[i] = static_cast<int32_t>(k * w_zero * x_zero - row_sum * x_zero);
  }
}

void run_task(const TileJob& job, int64_t task, const UnitScratch& scratch, FinishSums finish) {
  const GridDivision& d = job.division;
  const int64_t slab = task / d.tasks(), band = task / d.across % d.down,
                first_pair = task % d.across * job.band_pairs();
  const int64_t slice = job.first_slice + slab / job.g.groups, group = slab % job.g.groups;
  const int64_t first = band * job.band_positions(), count = std::min(job.band_positions(), job.positions - first);
  const int32_t* x = job.words + slab * job.w.words() * job.pitch + first;
  const Lines lines = job.w.gathered() ? gather_lines(job, x, round_up(count, kTileRows), scratch)
                                       : Lines{x, job.pitch, job.steps.data()};
  TileConvBlock block{job.ones.data(), 1,
                      lines.x,         lines.pitch,
                      lines.steps,     job.step_count(),
                      count,           scratch.sums.data() + kPair * job.ld(),
                      job.ld(),        nullptr};
  const TileConvKernels::Block run = job.w.kernels().block[job.w.is_signed()][job.operands.x_signed];
  int32_t* column_sums = job.ones.empty() ? nullptr : block.sums;
  if (column_sums != nullptr) run(block);
  block.sums = scratch.sums.data();
  const int64_t last = std::min(job.w.row_tiles(), (first_pair + job.band_pairs()) * 2);
  for (int64_t tile = first_pair * 2; tile < last; tile += 2) {
    const int64_t row = tile * kTileRows, rows = std::min(kPair, job.w.rows() - row);
    block.weights = job.w.block(group, tile);
    block.tiles_high = rows > kTileRows ? 2 : 1;
    block.next = tile + 2 < last ? job.w.block(group, tile + 2) : nullptr;
    run(block);
    int32_t row_add[kPair];
    set_row_add(job, group, row, rows, row_add);
    const int64_t channel = group * job.w.rows() + row;
    finish_rows(job, slice / job.g.out[0] * job.g.out_channels + channel, slice % job.g.out[0], first, count,
                {rows, 0, scratch.sums.data(), job.ld(), row_add, job.w_zeros.data() + channel, column_sums}, finish);
  }
}

void run_slices(base::ThreadPool* pool, const TileJob& job, FinishSums finish) {
  const int64_t least = least_items(task_ns(job.grid, job.division));
  base::parallel_for(pool, job.grid.times * job.division.tasks(), least, [&](int64_t begin, int64_t end) {
    const UnitScratch scratch(job);
    const Tiles tiles(job.w.kernels());
    for (int64_t task = begin; task < end; ++task) run_task(job, task, scratch, finish);
  });
}

}  // namespace

void conv_in_tiles(base::ThreadPool* pool, const ConvGeometry& g, const ConvInt8& operands,
                   const TileConvWeights& weights, FinishSums finish) {
  TileJob job(g, operands, weights);
  const int64_t all = g.batch * g.out[0], slice_bytes = job.slice_words() * int64_t{sizeof(int32_t)};
  const int64_t most = images_at_once(all, units_ns(job.grid_of(1)), slice_bytes, threads_of(pool));
  const Scratch<int32_t> words(job.words_of(most));
  job.words = words.data();
  for (; job.first_slice < all; job.first_slice += most) {
    job.slices = std::min(most, all - job.first_slice);
    job.grid = job.grid_of(job.slices);
    job.division = divide_grid(job.grid, threads_of(pool));
    spread_slices(pool, job);
    run_slices(pool, job, finish);
  }
}

}  // namespace ortolan::cpu::kernels
