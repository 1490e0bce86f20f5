// The transforms of F(2x2, 3x3) for one instruction set: a lane is a tile. Included as vec.h is.
#pragma once

#include "cpu/kernels/vec_lanes.h"
#include "cpu/kernels/winograd_f32.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

// Where the four columns of up to kLanes tiles lie in a row: the first column, and which lanes of it exist.
struct TileColumns {
  int64_t first;
  LaneRange a, b, a2, b2;
};

ORTOLAN_INLINE TileColumns tile_columns(int64_t first, int64_t width) {
  const auto range = [=](int64_t shift) __attribute__((always_inline)) {
    return lane_range(clamp_lane(-first - shift), clamp_lane(width - first - shift));
  };
  return {first, range(0), range(kLanes), range(2), range(kLanes + 2)};
}

ORTOLAN_INLINE void load_tile_row(const float* row, const TileColumns& c, Vf (&d)[4]) {
  const float* p = row + c.first;
  const Vf a = load_range(p, c.a), b = load_range(p + kLanes, c.b);
  const Vf a2 = load_range(p + 2, c.a2), b2 = load_range(p + kLanes + 2, c.b2);
  d[0] = even_lanes(a, b);
  d[1] = odd_lanes(a, b);
  d[2] = even_lanes(a2, b2);
  d[3] = odd_lanes(a2, b2);
}

ORTOLAN_INLINE void transform_four(Vf d0, Vf d1, Vf d2, Vf d3, Vf (&t)[4]) {
  t[0] = d0 - d2;
  t[1] = d1 + d2;
  t[2] = d2 - d1;
  t[3] = d1 - d3;
}

// Up to kLanes tiles of one row of tiles, all channels.
ORTOLAN_INLINE void input_piece(const WinogradInput& in, int64_t tile_row, int64_t tile_column, int64_t count,
                                float* to) {
  const int64_t top = 2 * tile_row - in.pad_h;
  const TileColumns columns = tile_columns(2 * tile_column - in.pad_w, in.w);
  const float* plane = in.x;
  for (int64_t c = 0; c < in.channels; ++c, plane += in.h * in.w, to += in.width) {
    Vf rows[4][4];
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) {
      Vf d[4] = {};
      if (top + r >= 0 && top + r < in.h) load_tile_row(plane + (top + r) * in.w, columns, d);
      transform_four(d[0], d[1], d[2], d[3], rows[r]);
    }
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      Vf t[4];
      transform_four(rows[0][j], rows[1][j], rows[2][j], rows[3][j], t);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) store_count(to + (4 * i + j) * in.position_step, count, t[i]);
    }
  }
}

void input(const WinogradInput& in, const TileRun& run) {
  for (int64_t i = 0; i < run.count; i += kLanes) {
    input_piece(in, run.row, run.column + i, least(kLanes, run.count - i), in.v + run.at + i);
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

ORTOLAN_INLINE void output_piece(const WinogradOutput& out, int64_t tile_row, int64_t tile_column, int64_t count,
                                 const float* m) {
  const int64_t top = 2 * tile_row, left = 2 * tile_column, plane = out.h * out.w;
  const bool second_row = top + 1 < out.h;
  OutputRow row;
  row.count = least(2 * count, out.w - left);
  row.low = set1(out.low);
  row.high = set1(out.high);
  for (int64_t c = 0; c < out.channels; ++c, m += out.width) {
    Vf upper[4], lower[4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      const auto at = [&](int i) __attribute__((always_inline)) {
        const float* p = m + (4 * i + j) * out.position_step;
        return count == kLanes ? load(p) : load_n(p, count);
      };
      const Vf m1 = at(1), m2 = at(2);
      upper[j] = at(0) + m1 + m2;
      lower[j] = m1 - m2 - at(3);
    }
    const int64_t offset = c * plane + top * out.w + left;
    row.bias = set1(out.bias == nullptr ? 0.0f : out.bias[c]);
    row.y = out.y + offset;
    row.residual = out.residual == nullptr ? nullptr : out.residual + offset;
    finish_row(row, upper[0] + upper[1] + upper[2], upper[1] - upper[2] - upper[3]);
    if (!second_row) continue;
    row.y += out.w;
    if (row.residual != nullptr) row.residual += out.w;
    finish_row(row, lower[0] + lower[1] + lower[2], lower[1] - lower[2] - lower[3]);
  }
}

void output(const WinogradOutput& out, const TileRun& run) {
  for (int64_t i = 0; i < run.count; i += kLanes) {
    output_piece(out, run.row, run.column + i, least(kLanes, run.count - i), out.m + run.at + i);
  }
}

}  // namespace

extern const WinogradKernels kWinograd;
const WinogradKernels kWinograd = {input, output};

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
