// Convolution's planes split for tiles, and its products of tiles.
#define ORTOLAN_ISA amx
#include "cpu/kernels/convolution/split_conv_f32_kernels.h"
#include "cpu/kernels/products/split_slices_body.h"
#include "cpu/kernels/products/split_sweep_body.h"
#include "cpu/kernels/vectors/vec_lanes.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

// Splitting.

// 16 columns of a phase's rows from input column w on, of which `count` are written.
struct ColumnsOfPlane {
  int64_t w, count;
  LaneRange first, second;  // which elements exist of the 32 from w on
};

ORTOLAN_INLINE ColumnsOfPlane columns_at(const SplitPlanes& p, const SplitPhase& phase, int64_t column) {
  ColumnsOfPlane c;
  c.w = phase.first_w + column * p.step_w;
  c.count = least(kLanes, p.columns - column);
  const auto range = [&](int64_t shift) __attribute__((always_inline)) {
    return lane_range(clamp_lane(-c.w - shift), clamp_lane(p.in_w - c.w - shift));
  };
  c.first = range(0);
  c.second = range(kLanes);
  return c;
}

template <int kStep>
ORTOLAN_INLINE Vf load_columns(const float* row, const SplitPlanes& p, const ColumnsOfPlane& c) {
  const float* from = row + c.w;
  if constexpr (kStep == 1) return load_range(from, c.first);
  if constexpr (kStep == 2) return even_lanes(load_range(from, c.first), load_range(from + kLanes, c.second));
  Vf v = {};
  for (int64_t i = 0, at = 0; i < c.count; ++i, at += p.step_w) {
    if (c.w + at >= 0 && c.w + at < p.in_w) v[i] = from[at];
  }
  return v;
}

template <int kSlices>
ORTOLAN_INLINE void store_pairs(Vf a, Vf b, __mmask16 lanes, uint32_t* to, int64_t slice_step) {
  if constexpr (kSlices == 1) {
    _mm512_mask_storeu_epi32(to, lanes, InPairs::rounded(a, b));
  } else {
    const Vf high_a = upper_half(a), high_b = upper_half(b), rest_a = a - high_a, rest_b = b - high_b;
    _mm512_mask_storeu_epi32(to, lanes, InPairs::exact(high_a, high_b));
    if constexpr (kSlices == 2) {
      _mm512_mask_storeu_epi32(to + slice_step, lanes, InPairs::rounded(rest_a, rest_b));
    } else {
      const Vf middle_a = upper_half(rest_a), middle_b = upper_half(rest_b);
      _mm512_mask_storeu_epi32(to + slice_step, lanes, InPairs::exact(middle_a, middle_b));
      _mm512_mask_storeu_epi32(to + 2 * slice_step, lanes, InPairs::exact(rest_a - middle_a, rest_b - middle_b));
    }
  }
}

// The planes of a pair of channels; a missing one is nullptr.
struct PairOfPlanes {
  const float* even;
  const float* odd;
};

// Up to 16 columns of `rows` rows, the first of which is the input's row h.
template <int kSlices, int kStep>
ORTOLAN_INLINE Vi split_columns_of(const SplitPlanes& p, const PairOfPlanes& pair, int64_t h, int64_t rows,
                                   const ColumnsOfPlane& c, uint32_t* to, Vi largest) {
  const __mmask16 lanes = lanes_up_to(c.count);
  for (int64_t row = 0; row < rows; ++row, h += p.step_h, to += p.row_step) {
    Vf even = {}, odd = {};
    if (h >= 0 && h < p.in_h && pair.even != nullptr) {
      even = load_columns<kStep>(pair.even + h * p.in_row, p, c);
      prefetch(pair.even + h * p.in_row + c.w + p.ahead);
      if (pair.odd != nullptr) {
        odd = load_columns<kStep>(pair.odd + h * p.in_row, p, c);
        prefetch(pair.odd + h * p.in_row + c.w + p.ahead);
      }
    }
    largest = larger_magnitude(larger_magnitude(largest, even), odd);
    store_pairs<kSlices>(even, odd, lanes, to, p.slice_step);
  }
  return largest;
}

// Rows [row, row + rows) of pair i.
template <int kSlices, int kStep>
Vi split_pair(const SplitPlanes& p, int64_t i, int64_t row, int64_t rows, Vi largest) {
  const float* even = p.x + 2 * i * p.channel_step;
  const PairOfPlanes pair = {2 * i < p.channels ? even : nullptr,
                             2 * i + 1 < p.channels ? even + p.channel_step : nullptr};
  uint32_t* to = p.to + i / kSplitPairs * p.block_step + i % kSplitPairs * p.pair_step + row * p.row_step;
  for (int64_t f = 0; f < p.phase_count; ++f) {
    const SplitPhase& phase = p.phases[f];
    for (int64_t column = 0; column < p.columns; column += kLanes) {
      largest = split_columns_of<kSlices, kStep>(p, pair, phase.first_h + row * p.step_h, rows,
                                                 columns_at(p, phase, column), to + phase.word + column, largest);
    }
  }
  return largest;
}

template <int kSlices, int kStep>
uint32_t split_planes(const SplitPlanes& p) {
  Vi largest = {};
  const int64_t pairs = (p.channels + kSplitStep - 1) / kSplitStep * kSplitPairs;
  for (int64_t row = 0; row < p.rows; row += p.rows_at_once) {
    const int64_t rows = least(p.rows_at_once, p.rows - row);
    for (int64_t i = 0; i < pairs; ++i) largest = split_pair<kSlices, kStep>(p, i, row, rows, largest);
  }
  return _mm512_reduce_max_epu32((__m512i)largest);
}

template <int kSlices>
uint32_t split_slices(const SplitPlanes& p) {
  if (p.step_w == 1) return split_planes<kSlices, 1>(p);
  if (p.step_w == 2) return split_planes<kSlices, 2>(p);
  return split_planes<kSlices, 0>(p);
}

uint32_t split(const SplitPlanes& p) {
  if (p.slices == 1) return split_slices<1>(p);
  if (p.slices == 2) return split_slices<2>(p);
  return split_slices<3>(p);
}

// Products.

// A block of sums that waits to be finished while the next one's tiles are multiplied.
struct PendingSums {
  const float* sums = nullptr;
  const SplitConvColumns* columns = nullptr;
  int64_t halves = 0;
  int64_t row = 0, end = 0;  // rows of the product still to be finished
  int64_t first_row = 0;     // of the block
  bool first = false, last = false;
};

ORTOLAN_INLINE void finish_half(const SplitConvProduct& p, const PendingSums& s, int64_t row, const SplitConvColumns& c,
                                Vf v) {
  if (c.lanes != 0xffff) v = (Vf)_mm512_maskz_compress_ps(c.lanes, (__m512)v);
  const __mmask16 lanes = lanes_up_to(c.count);
  const int64_t at = row * p.y_step + c.first;
  if (!s.first || p.add_to_y) v += load_lanes(p.y + at, lanes);
  if (s.last) {
    if (p.bias != nullptr) v += set1(p.bias[row]);
    if (p.residual != nullptr) v += load_lanes(p.residual + at, lanes);
    if (p.clamp) v = vmin(set1(p.high), vmax(set1(p.low), v));
  }
  _mm512_mask_storeu_ps(p.y + at, lanes, (__m512)v);
}

__attribute__((noinline)) void finish_some(const SplitConvProduct& p, PendingSums& s, int64_t rows) {
  for (const int64_t end = least(s.end, s.row + rows); s.row < end; ++s.row) {
    const float* sums = s.sums + (s.row - s.first_row) * kSplitColumns;
    for (int64_t h = 0; h < s.halves; ++h) {
      if (s.columns[h].count > 0) finish_half(p, s, s.row, s.columns[h], load(sums + h * kLanes));
    }
  }
}

// What is done between tile products, so that its instructions run beside them.
struct Beside {
  const SplitConvProduct& product;
  PendingSums pending;
  const char* fetched;  // the weights that come next, so far
  const char* fetch_end;
  int64_t rows = 0;    // to be finished with each step
  int64_t lines = 0;   // to be fetched with each tile product
  PendingSums near{};  // the block whose tiles are multiplied: rows of results that have not been fetched

  __attribute__((always_inline)) void begin_step(int64_t) {
    if (pending.row < pending.end) finish_some(product, pending, rows);
    if (near.row < near.end) fetch_results();
    if (fetched >= fetch_end) lines = 0;
  }
  // What finishing the block will read and write.
  __attribute__((always_inline)) void fetch_results() {
    for (const int64_t end = near.row + rows; near.row < end; ++near.row) {
      const int64_t at = near.row * product.y_step + near.columns->first;
      prefetch(product.y + at);
      prefetch(product.y + at + kLanes);
      if (!near.last || product.residual == nullptr) continue;
      prefetch(product.residual + at);
      prefetch(product.residual + at + kLanes);
    }
  }
  __attribute__((always_inline)) void fetch(int) {
    for (int64_t i = 0; i < lines; ++i, fetched += 64) __builtin_prefetch(fetched, 0, 2);
  }
  __attribute__((always_inline)) void end_product() {}
};

// Steps of the sums, from their tiles of weights on, at one block of positions.
struct StepsOfConv {
  const SplitConvProduct& product;
  const char* left;
  const int64_t* offsets;
  int64_t count;
  const char* planes = nullptr;

  __attribute__((always_inline)) RightTiles right(int64_t i) const {
    return {planes + offsets[i], product.slice_bytes, kTileRowBytes, product.pair_bytes};
  }
};

template <int kSlices, bool kTall, bool kWide>
void multiply_block(const StepsOfConv& s, Beside& beside, float* sums) {
  sum_slices<kSlices, kTall, kWide>(s, beside);
  store_sums<kTall ? 2 : 1, kWide ? 2 : 1>(sums, kSplitColumns);
}

template <int kSlices>
void multiply_shaped(bool tall, bool wide, const StepsOfConv& s, Beside& beside, float* sums) {
  if (tall && wide) return multiply_block<kSlices, true, true>(s, beside, sums);
  if (tall) return multiply_block<kSlices, true, false>(s, beside, sums);
  if (wide) return multiply_block<kSlices, false, true>(s, beside, sums);
  multiply_block<kSlices, false, false>(s, beside, sums);
}

// Rows [row, row + 32) and steps [step, step + count) of the sums, at all positions.
template <int kSlices>
void multiply_rows(const SplitConvProduct& p, int64_t row, int64_t step, int64_t count, Beside& beside) {
  const int64_t rows = least(kSplitRows, p.rows - row);
  const int64_t blocks = (p.positions + kSplitColumns - 1) / kSplitColumns;
  StepsOfConv s = {p, p.weights + (row / kSplitRows * p.steps + step) * kSlices * kSliceBytes, p.offsets + step, count};
  beside.fetched = s.left + count * kSlices * kSliceBytes;
  beside.fetch_end = beside.fetched + least(p.weights_end - beside.fetched, count * kSlices * kSliceBytes);
  const int64_t products = 2 * kSlices * (kSlices + 1);  // of tiles, with each step of a block
  const int64_t lines = (kSlices * kSliceBytes / 64 + products * blocks - 1) / (products * blocks);
  for (int64_t b = 0; b < blocks; ++b) {
    const int64_t positions = least(kSplitColumns, p.positions - b * kSplitColumns);
    s.planes = p.planes + b * p.block_bytes;
    beside.lines = lines;
    beside.rows = most(2, (beside.pending.end - beside.pending.row + count - 1) / count);
    float* sums = p.sums + (beside.pending.sums == p.sums ? kSplitRows * kSplitColumns : 0);
    const PendingSums block = {sums, p.columns + 2 * b, positions > kLanes ? 2 : 1, row, row + rows,
                               row,  step == 0,         step + count == p.steps};
    beside.near = block;
    multiply_shaped<kSlices>(rows > kTileHeight, positions > kLanes, s, beside, sums);
    finish_some(p, beside.pending, kSplitRows);
    beside.pending = block;
  }
}

template <int kSlices>
void multiply_all(const SplitConvProduct& p) {
  Beside beside = {p, {}, nullptr, nullptr};
  for (int64_t row = 0; row < p.rows; row += kSplitRows) {
    for (int64_t step = 0; step < p.steps; step += p.steps_at_once) {
      multiply_rows<kSlices>(p, row, step, least(p.steps_at_once, p.steps - step), beside);
    }
  }
  finish_some(p, beside.pending, kSplitRows);
}

void multiply(const SplitConvProduct& p) {
  const TileScope tiles(kWholeTiles);
  if (p.slices == 1) return multiply_all<1>(p);
  if (p.slices == 2) return multiply_all<2>(p);
  multiply_all<3>(p);
}

}  // namespace

extern const SplitConvKernels kSplitConv;
const SplitConvKernels kSplitConv = {split, multiply};

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
