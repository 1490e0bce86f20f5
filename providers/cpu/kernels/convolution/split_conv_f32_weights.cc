// Weights of convolution on tiles: which layers gain by them, and their splitting.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/memory/packed_parts.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/convolution/conv_f32_weights.h"
#include "cpu/kernels/convolution/split_conv_f32.h"
#include "cpu/kernels/convolution/split_conv_f32_kernels.h"
#include "cpu/kernels/convolution/winograd_f32.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/products/split_f32_kernels.h"
#include "cpu/kernels/scratch.h"
#include "cpu/kernels/vectors/lengths.h"
#include "cpu/kernels/vectors/unaligned.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr int64_t kStepsAtOnce = kSplitLongest / kSplitStep;
constexpr int64_t kSliceBytes = 2048;

// Rates of one core with AVX-512 and tiles, as measured: multiplications and additions, and bytes of weights, in a
// nanosecond; nanoseconds to split an element and to finish a block of the sums.
constexpr double kTileRate = 250, kPlainRate = 160, kWinogradRate = 285, kStridedWinogradRate = 165;
constexpr double kWeightsRate = 25, kSplitTime = 0.4, kBlockTime = 200;
// The gain has to be large, because beside a sibling thread that works too tiles lose more than vectors do: their loads
// no longer run beside their products.
constexpr double kWorthWhile = 0.75, kManyPositions = 4096;

// Weights of row `row` for steps [first, first + count), channel after channel of each, missing ones 0.
void collect_row(const SplitConvWeights& w, const float* row, int64_t first, int64_t count, float* to) {
  for (int64_t step = first; step < first + count; ++step, to += kSplitStep) {
    const int64_t channel = step / w.taps * kSplitStep, tap = step % w.taps;
    const int64_t present = std::min(kSplitStep, w.group_depth - channel);
    const float* from = row + channel * w.taps + tap;
    for (int64_t i = 0; i < present; ++i) to[i] = read_unaligned(from + i * w.taps);
    std::fill(to + present, to + kSplitStep, 0.0f);
  }
}

// Returns whether all are in the tiles' range.
bool split_row_block(const SplitConvWeights& w, int64_t group, int64_t block, const float* weights, char* to) {
  const int64_t depth = w.group_depth * w.taps, first_row = block * kSplitRows;
  const int64_t rows = std::min(kSplitRows, w.group_rows - first_row);
  const float* from = weights + (group * w.group_rows + first_row) * depth;
  if (rows < kSplitRows) std::memset(to, 0, static_cast<size_t>(w.row_block_bytes()));
  bool inside = true;
  for (int64_t step = 0; step < w.steps; step += w.steps_at_once) {
    const int64_t count = std::min(w.steps_at_once, w.steps - step), k = count * kSplitStep;
    const Scratch<float> leased(kSplitRows * k);
    float* const collected = leased.data();
    for (int64_t r = 0; r < rows; ++r) collect_row(w, from + r * depth, step, count, collected + r * k);
    SplitRange range;
    kernels().split_f32->split_rows(w.slices, {collected, k, rows, k}, to + step * w.slices * kSliceBytes, &range);
    inside = inside && !range.scaled && range.odd == 0;
  }
  return inside;
}

float element(const char* slices, int count) {
  float sum = 0;
  for (int s = count - 1; s >= 0; --s) {
    uint16_t upper;
    std::memcpy(&upper, slices + s * kSliceBytes, sizeof upper);
    sum += std::bit_cast<float>(static_cast<uint32_t>(upper) << 16);
  }
  return sum;
}

// Positions of tiles for so many outputs of a channel, among them the gaps at the ends of rows of a square.
double positions_with_gaps(const ConvGeometry& g, double positions) {
  const double reach = static_cast<double>(g.kernel[2] - 1) * static_cast<double>(g.dilation[2]);
  return positions + std::floor(reach / static_cast<double>(g.stride[2])) * std::sqrt(positions);
}

// Nanoseconds for all outputs of a group, each way; where sizes are not known, of many.
double time_on_tiles(const ConvGeometry& g, double positions, int slices) {
  const int64_t rows = round_up(g.out_channels / g.groups, 16), depth = g.in_channels / g.groups,
                taps = volume(g.kernel);
  const int64_t steps = (depth + kSplitStep - 1) / kSplitStep * taps, sums = (steps + kStepsAtOnce - 1) / kStepsAtOnce;
  const double spread = positions_with_gaps(g, positions), tiles = std::ceil(spread / 16);
  const auto weights = static_cast<double>(rows * steps * kSplitStep);
  const double products = static_cast<double>(slices * (slices + 1)) / 12;
  const auto phases = static_cast<double>(std::min(taps, g.stride[1] * g.stride[2]));
  return kSplitTime * static_cast<double>(depth) * phases * spread + 2 * weights * 16 * tiles * products / kTileRate +
         2 * slices * weights / kWeightsRate + kBlockTime / 4 * static_cast<double>(rows / 16 * sums) * tiles;
}

double time_without_tiles(const ConvGeometry& g, int64_t known_positions, double positions) {
  const bool winograd = suits_winograd(g, kEnoughSums, known_positions);
  const double rate = !winograd ? kPlainRate : g.stride[1] == 1 ? kWinogradRate : kStridedWinogradRate;
  const auto weights = static_cast<double>(g.out_channels / g.groups * (g.in_channels / g.groups) * volume(g.kernel));
  const double bytes = (winograd ? 64.0 / 9 : 4.0) * weights;
  return 2 * weights * positions / rate + bytes / kWeightsRate;
}

}  // namespace

int64_t SplitConvWeights::row_blocks() const { return (group_rows + kSplitRows - 1) / kSplitRows; }
int64_t SplitConvWeights::row_block_bytes() const { return steps * slices * kSliceBytes; }

bool suits_split_conv(const ConvGeometry& g, int64_t positions, int slices) {
  if (kernels().split_conv == nullptr || slices == 0 || g.kernel[0] != 1) return false;
  const double outputs = positions > 0 ? static_cast<double>(positions) : kManyPositions;
  return time_on_tiles(g, outputs, slices) < kWorthWhile * time_without_tiles(g, positions, outputs);
}

std::unique_ptr<SplitConvWeights> pack_split_conv(base::ThreadPool* pool, const ConvGeometry& g, const float* weights,
                                                  int slices) {
  auto packed = std::make_unique<SplitConvWeights>();
  SplitConvWeights& w = *packed;
  w.slices = slices;
  w.groups = g.groups;
  w.group_rows = g.out_channels / g.groups;
  w.group_depth = g.in_channels / g.groups;
  w.taps = volume(g.kernel);
  w.steps = (w.group_depth + kSplitStep - 1) / kSplitStep * w.taps;
  const int64_t sums = (w.steps + kStepsAtOnce - 1) / kStepsAtOnce, blocks = w.row_blocks();
  w.steps_at_once = (w.steps + sums - 1) / sums;
  const auto bytes = static_cast<size_t>(w.groups * blocks * w.row_block_bytes());
  if (base::parts_are_kept()) {
    if (base::kept_choice(2) == 0) return nullptr;
    w.tiles = AlignedBuffer(bytes, Lifetime::kSession);
    return packed;
  }
  w.tiles = AlignedBuffer(bytes, Lifetime::kSession);
  std::atomic<bool> inside = true;
  base::parallel_for(pool, w.groups * blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      char* to = w.tiles.as<char>() + i * w.row_block_bytes();
      if (!split_row_block(w, i / blocks, i % blocks, weights, to)) inside = false;
    }
  });
  return base::note_choice(inside ? 1 : 0) != 0 ? std::move(packed) : nullptr;
}

void unpack_split_conv(const SplitConvWeights& w, int64_t group, float* to) {
  for (int64_t row = 0; row < w.group_rows; ++row) {
    const char* block = w.group(group) + row / kSplitRows * w.row_block_bytes();
    const char* tile_row = block + row % kSplitRows * 64;
    for (int64_t i = 0; i < w.group_depth * w.taps; ++i) {
      const int64_t channel = i / w.taps, step = channel / kSplitStep * w.taps + i % w.taps;
      *to++ = element(tile_row + step * w.slices * kSliceBytes + channel % kSplitStep * 2, w.slices);
    }
  }
}

}  // namespace ortolan::cpu::kernels
