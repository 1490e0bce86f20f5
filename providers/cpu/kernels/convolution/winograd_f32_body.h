// Winograd's transforms for one instruction set: a lane is a tile. Included as vec.h is.
#pragma once

#include "cpu/kernels/convolution/winograd_f32.h"
#include "cpu/kernels/vectors/vec_lanes.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

// Where the columns of up to kLanes tiles lie in a row of inputs: the first column, and which lanes exist of each load.
template <int kStride>
struct TileColumns;
template <>
struct TileColumns<1> {
  static constexpr int kSide = 4;
  int64_t first;
  LaneRange a, b, a2, b2;
};
template <>
struct TileColumns<2> {
  static constexpr int kSide = 5;
  int64_t first;
  LaneRange at[5];
};

// Lanes from `shift` past the first column on.
ORTOLAN_INLINE LaneRange columns_inside(int64_t first, int64_t width, int64_t shift) {
  const int64_t low = clamp_lane(-first - shift);
  return lane_range(low, most(low, clamp_lane(width - first - shift)));
}

template <int kStride>
ORTOLAN_INLINE TileColumns<kStride> tile_columns(int64_t first, int64_t width) {
  const auto from = [=](int64_t shift) __attribute__((always_inline)) { return columns_inside(first, width, shift); };
  if constexpr (kStride == 1) {
    return {first, from(0), from(kLanes), from(2), from(kLanes + 2)};
  } else {
    return {first, {from(0), from(kLanes), from(2 * kLanes), from(3 * kLanes), from(4 * kLanes)}};
  }
}

ORTOLAN_INLINE void load_tile_row(const float* row, const TileColumns<1>& c, Vf (&d)[4]) {
  const float* p = row + c.first;
  const Vf a = load_range(p, c.a), b = load_range(p + kLanes, c.b);
  const Vf a2 = load_range(p + 2, c.a2), b2 = load_range(p + kLanes + 2, c.b2);
  d[0] = even_lanes(a, b);
  d[1] = odd_lanes(a, b);
  d[2] = even_lanes(a2, b2);
  d[3] = odd_lanes(a2, b2);
}

ORTOLAN_INLINE void load_tile_row(const float* row, const TileColumns<2>& c, Vf (&d)[5]) {
  Vf v[5];
#pragma GCC unroll 5
  for (int i = 0; i < 5; ++i) v[i] = load_range(row + c.first + i * kLanes, c.at[i]);
  const Vf even[2] = {even_lanes(v[0], v[1]), even_lanes(v[2], v[3])};
  const Vf odd[2] = {odd_lanes(v[0], v[1]), odd_lanes(v[2], v[3])};
  d[0] = even_lanes(even[0], even[1]);
  d[1] = even_lanes(odd[0], odd[1]);
  d[2] = odd_lanes(even[0], even[1]);
  d[3] = odd_lanes(odd[0], odd[1]);
  d[4] = next_lanes(d[0], v[4]);
}

ORTOLAN_INLINE void transform(const Vf (&d)[4], Vf (&t)[4]) {
  t[0] = d[0] - d[2];
  t[1] = d[1] + d[2];
  t[2] = d[2] - d[1];
  t[3] = d[1] - d[3];
}
ORTOLAN_INLINE void transform(const Vf (&d)[5], Vf (&t)[5]) {
  t[0] = d[0] - d[2];
  t[1] = d[2];
  t[2] = d[2] - d[4];
  t[3] = d[1];
  t[4] = d[3];
}

// The two outputs of one line of products.
ORTOLAN_INLINE void transform_back(const Vf (&m)[4], Vf& first, Vf& second) {
  first = m[0] + m[1] + m[2];
  second = m[1] - m[2] - m[3];
}
ORTOLAN_INLINE void transform_back(const Vf (&m)[5], Vf& first, Vf& second) {
  first = m[0] + m[1] + m[3];
  second = m[1] - m[2] + m[4];
}

constexpr int64_t kPlanesAhead = 8;  // of which lines are asked for, planes being far apart

// Asks for `count` floats of each of some rows.
template <int kWrite>
ORTOLAN_INLINE void prefetch_rows(const float* p, int64_t row, int64_t rows, int64_t count) {
  for (int64_t r = 0; r < rows; ++r, p += row) {
    for (int64_t i = 0; i < count; i += kLineFloats) __builtin_prefetch(p + i, kWrite);
    __builtin_prefetch(p + count - 1, kWrite);
  }
}

// Up to kLanes tiles of one row of tiles, all channels.
template <int kStride>
ORTOLAN_INLINE void input_piece(const WinogradInput& in, int64_t tile_row, int64_t tile_column, int64_t count,
                                float* to) {
  constexpr int kSide = TileColumns<kStride>::kSide;
  const int64_t top = 2 * kStride * tile_row - in.pad_h;
  const auto columns = tile_columns<kStride>(2 * kStride * tile_column - in.pad_w, in.w);
  const int64_t row = in.w, plane_size = in.h * in.w, step = in.position_step, line = in.width, h = in.h;
  const int64_t channels = in.channels;
  const float* plane = in.x;
  const float* ahead = in.x + kPlanesAhead * plane_size + top * row + columns.first;
  for (int64_t c = 0; c < channels; ++c, plane += plane_size, to += line, ahead += plane_size) {
    prefetch_rows<0>(ahead, row, kSide, least(2 * kStride * count + 2, row));
    Vf rows[kSide][kSide];
#pragma GCC unroll 5
    for (int r = 0; r < kSide; ++r) {
      Vf d[kSide] = {};
      if (top + r >= 0 && top + r < h) load_tile_row(plane + (top + r) * row, columns, d);
      transform(d, rows[r]);
    }
#pragma GCC unroll 5
    for (int j = 0; j < kSide; ++j) {
      Vf d[kSide], t[kSide];
#pragma GCC unroll 5
      for (int i = 0; i < kSide; ++i) d[i] = rows[i][j];
      transform(d, t);
#pragma GCC unroll 5
      for (int i = 0; i < kSide; ++i) store_count(to + (kSide * i + j) * step, count, t[i]);
    }
  }
}

template <int kStride>
void input(const WinogradInput& in, const TileRun& run) {
  for (int64_t i = 0; i < run.count; i += kLanes) {
    input_piece<kStride>(in, run.row, run.column + i, least(kLanes, run.count - i), in.v + run.at + i);
  }
}

struct OutputRow {
  float* y;
  const float* residual;
  int64_t count;
  Vf bias, low, high;
};

ORTOLAN_INLINE void finish_vector(const OutputRow& row, int64_t at, int64_t count, Vf v) {
  v = v + row.bias;
  if (row.residual != nullptr) v = v + load_n(row.residual + at, count);
  store_count(row.y + at, count, vmin(row.high, vmax(row.low, v)));
}

ORTOLAN_INLINE void finish_row(const OutputRow& row, Vf even, Vf odd) {
  finish_vector(row, 0, least(kLanes, row.count), zip_low(even, odd));
  if (row.count > kLanes) finish_vector(row, kLanes, row.count - kLanes, zip_high(even, odd));
}

template <int kSide>
ORTOLAN_INLINE void output_piece(const WinogradOutput& out, int64_t tile_row, int64_t tile_column, int64_t count,
                                 const float* m) {
  const int64_t top = 2 * tile_row, left = 2 * tile_column, plane = out.h * out.w;
  const bool second_row = top + 1 < out.h;
  OutputRow row;
  row.count = least(2 * count, out.w - left);
  row.low = set1(out.low);
  row.high = set1(out.high);
  for (int64_t c = 0; c < out.channels; ++c, m += out.width) {
    Vf upper[kSide], lower[kSide];
#pragma GCC unroll 5
    for (int j = 0; j < kSide; ++j) {
      Vf column[kSide];
#pragma GCC unroll 5
      for (int i = 0; i < kSide; ++i) {
        const float* p = m + (kSide * i + j) * out.position_step;
        column[i] = count == kLanes ? load(p) : load_n(p, count);
      }
      transform_back(column, upper[j], lower[j]);
    }
    const int64_t offset = c * plane + top * out.w + left;
    prefetch_rows<1>(out.y + offset + kPlanesAhead * plane, out.w, 2, row.count);
    row.bias = set1(out.bias == nullptr ? 0.0f : out.bias[c]);
    row.y = out.y + offset;
    row.residual = out.residual == nullptr ? nullptr : out.residual + offset;
    Vf even, odd;
    transform_back(upper, even, odd);
    finish_row(row, even, odd);
    if (!second_row) continue;
    row.y += out.w;
    if (row.residual != nullptr) row.residual += out.w;
    transform_back(lower, even, odd);
    finish_row(row, even, odd);
  }
}

template <int kSide>
void output(const WinogradOutput& out, const TileRun& run) {
  for (int64_t i = 0; i < run.count; i += kLanes) {
    output_piece<kSide>(out, run.row, run.column + i, least(kLanes, run.count - i), out.m + run.at + i);
  }
}

}  // namespace

extern const WinogradKernels kWinograd;
const WinogradKernels kWinograd = {{{input<1>, output<4>}, {input<2>, output<5>}}};

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
