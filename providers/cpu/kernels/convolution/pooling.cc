// Pooling: each output element from its window, with the window's part inside the plane worked out once per row.
#include "cpu/kernels/convolution/pooling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "base/threads/thread_pool.h"
#include "cpu/kernels/convolution/pool_kernels.h"
#include "cpu/kernels/convolution/window_reach.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/quantised/bytes.h"
#include "cpu/kernels/rows/reduce_f32.h"
#include "cpu/kernels/scratch.h"
#include "cpu/kernels/vectors/lengths.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr int64_t kHalvesAtOnce = 128 << 10;  // elements that stay in a processor's own cache
constexpr int64_t kShortSum = 128;            // elements whose sum may run in fp32 one after the other

// Taps that count as divisor where padding counts: those that lie inside the padded input.
int64_t padded_taps(const PoolGeometry& g, int axis, int64_t out) {
  const int64_t start = out * g.stride[axis] - g.pad_begin[axis];
  const int64_t limit = g.in[axis] + g.pad_end[axis];
  if (start >= limit) return 0;
  return std::min(g.kernel[axis], (limit - 1 - start) / g.dilation[axis] + 1);
}

// Elements that one output row reads, as a measure of work.
int64_t row_work(const PoolGeometry& g) {
  const int64_t taps = std::min(g.kernel[0], g.in[0]) * std::min(g.kernel[1], g.in[1]) * std::min(g.kernel[2], g.in[2]);
  return std::max<int64_t>(1, g.out[2] * taps);
}

struct Window {
  Reach d, h, w;
  int64_t padded;
};

// Calls visit(plane, output index, window) for each output element; `depth` values belong to each element.
template <class Visit>
void for_each_window(base::ThreadPool* pool, const PoolGeometry& g, Visit visit, int64_t depth = 1) {
  const int64_t rows = g.planes * g.out[0] * g.out[1];
  const int64_t least = least_rows(row_work(g) * (depth / 8 + 1), kScalarNs);
  base::parallel_for(pool, rows, least, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t oh = row % g.out[1], od = row / g.out[1] % g.out[0], plane = row / (g.out[1] * g.out[0]);
      Window window{reach_of(g, 0, od), reach_of(g, 1, oh), {}, 0};
      const int64_t padded = padded_taps(g, 0, od) * padded_taps(g, 1, oh);
      for (int64_t ow = 0; ow < g.out[2]; ++ow) {
        window.w = reach_of(g, 2, ow);
        window.padded = padded * padded_taps(g, 2, ow);
        visit(plane, row * g.out[2] + ow, window);
      }
    }
  });
}

// Calls take(index in the plane) for each element of a window.
template <class Take>
void for_each_tap(const PoolGeometry& g, const Window& window, Take take) {
  for (int64_t d = 0; d < window.d.count; ++d) {
    const int64_t at_d = window.d.at + d * g.dilation[0];
    for (int64_t h = 0; h < window.h.count; ++h) {
      const int64_t row = (at_d * g.in[1] + window.h.at + h * g.dilation[1]) * g.in[2] + window.w.at;
      for (int64_t w = 0; w < window.w.count; ++w) take(row + w * g.dilation[2]);
    }
  }
}

int64_t column_major_index(const PoolGeometry& g, int64_t at) {
  const int64_t w = at % g.in[2], h = at / g.in[2] % g.in[1], d = at / (g.in[2] * g.in[1]);
  return (w * g.in[1] + h) * g.in[0] + d;
}

// True where rows with their padding written out stay of the plane's order of size; attributes of a model decide.
bool has_modest_rows(const PoolGeometry& g) {
  const double reach = static_cast<double>(g.out[2] - 1) * static_cast<double>(g.stride[2]) +
                       static_cast<double>(g.kernel[2] - 1) * static_cast<double>(g.dilation[2]) + 1;
  const double longest = std::max(reach, static_cast<double>(g.in[2]) + static_cast<double>(g.pad_begin[2]));
  return longest <= 8.0 * static_cast<double>(g.in[2] + g.out[2]) + 4096;
}

// True where sums over the lines of a window, and then over their neighbours, may run in fp32.
bool has_short_sums(const PoolGeometry& g) {
  return g.kernel[0] <= kShortSum && g.kernel[0] * std::min(g.kernel[1], 2 * kShortSum) <= kShortSum &&
         g.kernel[2] <= kShortSum;
}

template <class T>
void max_pool_indexed(base::ThreadPool* pool, const PoolGeometry& g, const T* x, T* y, int64_t* indices,
                      bool column_major) {
  const int64_t plane_size = volume(g.in);
  for_each_window(pool, g, [&](int64_t plane, int64_t out, const Window& window) {
    const T* in = x + plane * plane_size;
    T best = std::numeric_limits<T>::lowest();
    int64_t best_at = -1;
    for_each_tap(g, window, [&](int64_t at) {
      if (in[at] > best || best_at < 0) {
        best = in[at];
        best_at = at;
      }
    });
    y[out] = best;
    best_at = std::max<int64_t>(best_at, 0);
    if (indices != nullptr)
      indices[out] = plane * plane_size + (column_major ? column_major_index(g, best_at) : best_at);
  });
}

const PoolSteps<float>& max_steps(const PoolKernels& k, const float*) { return k.max_f32; }
const PoolSteps<double>& max_steps(const PoolKernels& k, const double*) { return k.max_f64; }
const PoolSteps<int16_t>& max_steps(const PoolKernels& k, const int16_t*) { return k.max_s16; }
const PoolSteps<int8_t>& max_steps(const PoolKernels& k, const int8_t*) { return k.max_s8; }
const PoolSteps<uint8_t>& max_steps(const PoolKernels& k, const uint8_t*) { return k.max_u8; }

/** The lines of each position along an axis whose neighbours are `step` elements apart. */
std::vector<PoolBand> bands_of(const PoolGeometry& g, int axis, int64_t step) {
  std::vector<PoolBand> bands(g.out[axis]);
  for (int64_t i = 0; i < g.out[axis]; ++i) {
    const Reach reach = reach_of(g, axis, i);
    bands[i] = {reach.count > 0 ? reach.at * step : 0, reach.count};
  }
  return bands;
}

/** The divisors of means: taps that count along an axis, for each position. */
std::vector<float> sizes_of(const PoolGeometry& g, int axis, bool count_pad) {
  std::vector<float> sizes(g.out[axis]);
  for (int64_t i = 0; i < g.out[axis]; ++i) {
    sizes[i] = static_cast<float>(count_pad ? padded_taps(g, axis, i) : reach_of(g, axis, i).count);
  }
  return sizes;
}

/** Pools planes whose rows are contiguous, several output rows at a time: input rows are joined into rows with their
    padding written out, then neighbours in those. */
template <class T>
class PoolRows {
 public:
  PoolRows(const PoolGeometry& geometry, const PoolSteps<T>& steps, T neutral)
      : g(geometry),
        steps_(steps),
        neutral_(neutral),
        heights_(bands_of(g, 1, g.in[2])),
        depths_(bands_of(g, 0, g.in[1] * g.in[2])) {
    const int64_t reach = (g.out[2] - 1) * g.stride[2] + (g.kernel[2] - 1) * g.dilation[2] + 1;
    pitch_ = std::max({int64_t{1}, reach, g.in[2] + g.pad_begin[2]});
    const int64_t fit = std::max<int64_t>(1, kRowBytes / (pitch_ * static_cast<int64_t>(sizeof(T))));
    rows_ = std::clamp<int64_t>(g.out[1], 1, fit);
    if (g.out[0] == 1) planes_ = std::clamp<int64_t>(fit / rows_, 1, g.planes);
  }

  void divide_by_sizes(bool count_pad) {
    const std::vector<float> depths = sizes_of(g, 0, count_pad), heights = sizes_of(g, 1, count_pad),
                             widths = sizes_of(g, 2, count_pad);
    for (int64_t p = 0; p < planes_; ++p) {
      for (float depth : depths) {
        for (float height : heights) divisors_.push_back(divisors_of(depth * height, widths));
      }
    }
  }

  void run(base::ThreadPool* pool, const T* x, T* y) const {
    const int64_t slices = g.planes * g.out[0], groups = (g.out[1] + rows_ - 1) / rows_;
    const int64_t least = least_rows(row_work(g) * rows_ * planes_, kPooledNs);
    base::parallel_for(pool, (slices + planes_ - 1) / planes_ * groups, least, [&](int64_t begin, int64_t end) {
      const int64_t rows = rows_ * planes_;
      const Scratch<T> joined(rows * pitch_ + kSlack);
      std::fill_n(joined.data(), rows * pitch_ + kSlack, neutral_);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t slice = i / groups * planes_, first = i % groups * rows_;
        const Part part{slice, std::min(planes_, slices - slice), first, std::min(rows_, g.out[1] - first)};
        pool_part(part, x, joined.data(), y);
      }
    });
  }

 private:
  static constexpr int64_t kRowBytes = 16384, kSlack = 128;

  /** Some output rows of some slices of planes: of one where a plane has several, or the rows are not all. */
  struct Part {
    int64_t slice, slices, row, rows;
  };

  void pool_part(const Part& part, const T* x, T* joined, T* y) const {
    const int64_t depth = part.slice % g.out[0], size = volume(g.in);
    const PoolBand& d = depths_[depth];
    const PoolLines lines{part.slices, size,  1, 0, d.count, g.dilation[0] * g.in[1] * g.in[2], g.dilation[1] * g.in[2],
                          g.in[2],     pitch_};
    steps_.join_lines(x + part.slice / g.out[0] * size + d.at, lines, heights_.data() + part.row, part.rows,
                      joined + g.pad_begin[2]);
    const PoolTaps taps{part.slices * part.rows, pitch_, g.kernel[2], g.dilation[2], g.stride[2], g.out[2]};
    const PoolDivisors* divisors = divisors_.data() + (divisors_.empty() ? 0 : depth * g.out[1] + part.row);
    steps_.join_neighbours(joined, taps, divisors, y + (part.slice * g.out[1] + part.row) * g.out[2]);
  }

  /** Those of lines whose windows have `lines` lines, made once for each such number. */
  PoolDivisors divisors_of(float lines, const std::vector<float>& widths) {
    auto& made = made_divisors_[lines];
    if (made.empty()) {
      for (float width : widths) made.push_back(lines * width);
      for (float width : widths) made.push_back(1 / (lines * width));
    }
    return {made.data(), made.data() + widths.size()};
  }

  const PoolGeometry& g;
  const PoolSteps<T>& steps_;
  T neutral_;
  std::vector<PoolBand> heights_, depths_;
  std::vector<PoolDivisors> divisors_;  // of each line of output of planes_ planes, if any
  std::map<float, std::vector<float>> made_divisors_;
  int64_t pitch_ = 1, rows_ = 1, planes_ = 1;
};

// Windows that hold the whole plane: one sum for each.
bool is_global(const PoolGeometry& g) {
  bool global = true;
  for (int a = 0; a < 3; ++a) {
    global = global && g.out[a] == 1 && g.kernel[a] == g.in[a] && g.pad_begin[a] == 0 && g.dilation[a] == 1;
  }
  return global;
}

void average_planes(base::ThreadPool* pool, const PoolGeometry& g, const float* x, float* y) {
  const int64_t plane = volume(g.in);
  reduce_axis(pool, ReduceOp::kSum, x, g.planes, plane, 1, y);
  for (int64_t i = 0; i < g.planes; ++i) y[i] /= static_cast<float>(plane);
}

}  // namespace

template <class T>
void max_pool(base::ThreadPool* pool, const PoolGeometry& g, const T* x, T* y, int64_t* indices, bool column_major) {
  if (indices != nullptr || !has_modest_rows(g)) return max_pool_indexed(pool, g, x, y, indices, column_major);
  PoolRows<T>(g, max_steps(*kernels().pool, x), std::numeric_limits<T>::lowest()).run(pool, x, y);
}

void max_pool_halves(base::ThreadPool* pool, const PoolGeometry& g, uint16_t infinity, const uint16_t* x, uint16_t* y) {
  const int64_t in = volume(g.in), out = volume(g.out);
  const int64_t together = std::max<int64_t>(1, std::min(kHalvesAtOnce / std::max<int64_t>(in + out, 1), g.planes));
  const OrderedHalves& halves = kernels().pool->halves;
  const int64_t least = least_rows(row_work(g) * g.out[0] * g.out[1] * together, kPooledNs);
  base::parallel_for(pool, (g.planes + together - 1) / together, least, [&](int64_t begin, int64_t end) {
    auto ordered = std::make_unique_for_overwrite<int16_t[]>(static_cast<size_t>(together * (in + out)));
    int16_t* pooled = ordered.get() + together * in;
    PoolGeometry some = g;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i * together;
      some.planes = std::min(together, g.planes - first);
      halves.order(x + first * in, some.planes * in, infinity, ordered.get());
      max_pool<int16_t>(nullptr, some, ordered.get(), pooled, nullptr, false);
      halves.restore(pooled, some.planes * out, infinity, y + first * out);
    }
  });
}

template <class T>
void average_pool(base::ThreadPool* pool, const PoolGeometry& g, bool count_pad, const T* x, T* y) {
  const int64_t plane_size = volume(g.in);
  if constexpr (std::is_same_v<T, float>) {
    if (is_global(g)) return average_planes(pool, g, x, y);
    if (has_short_sums(g) && has_modest_rows(g)) {
      PoolRows<float> rows(g, kernels().pool->mean_f32, 0.0f);
      rows.divide_by_sizes(count_pad);
      return rows.run(pool, x, y);
    }
  }
  for_each_window(pool, g, [&](int64_t plane, int64_t out, const Window& window) {
    const T* in = x + plane * plane_size;
    double sum = 0;
    for_each_tap(g, window, [&](int64_t at) { sum += in[at]; });
    const int64_t inside = window.d.count * window.h.count * window.w.count;
    y[out] = static_cast<T>(sum / static_cast<double>(count_pad ? window.padded : inside));
  });
}

template <class T>
void lp_pool(base::ThreadPool* pool, const PoolGeometry& g, double p, const T* x, T* y) {
  const int64_t plane_size = volume(g.in);
  for_each_window(pool, g, [&](int64_t plane, int64_t out, const Window& window) {
    const T* in = x + plane * plane_size;
    double sum = 0;
    for_each_tap(g, window, [&](int64_t at) {
      const double v = std::fabs(static_cast<double>(in[at]));
      sum += p == 2 ? v * v : std::pow(v, p);
    });
    y[out] = static_cast<T>(p == 2 ? std::sqrt(sum) : std::pow(sum, 1 / p));
  });
}

template <class T>
void max_pool_cells(const T* plane, int64_t width, const CellRange* rows, int64_t row_count, const CellRange* columns,
                    int64_t column_count, T* y) {
  int64_t first = width, end = 0;
  for (int64_t c = 0; c < column_count; ++c) {
    first = std::min(first, columns[c].begin), end = std::max(end, columns[c].end);
  }
  const int64_t length = std::max<int64_t>(end - first, 0);
  const Scratch<T> leased(length);
  T* const joined = leased.data();
  const PoolLines lines{1, 0, 1, 0, 1, 0, width, length, length};
  for (int64_t r = 0; r < row_count; ++r, y += column_count) {
    const int64_t count = rows[r].end - rows[r].begin;
    if (count <= 0 || length == 0) {
      std::fill_n(y, column_count, T{0});
      continue;
    }
    const PoolBand band{rows[r].begin * width + first, count};
    max_steps(*kernels().pool, plane).join_lines(plane, lines, &band, 1, joined);
    for (int64_t c = 0; c < column_count; ++c) {
      T largest = columns[c].begin < columns[c].end ? std::numeric_limits<T>::lowest() : T{0};
      for (int64_t i = columns[c].begin; i < columns[c].end; ++i) largest = std::max(largest, joined[i - first]);
      y[c] = largest;
    }
  }
}

template <class T>
void max_pool_channels_last(base::ThreadPool* pool, const PoolGeometry& g, int64_t channels, const T* x, T* y) {
  const auto& steps = max_steps(*kernels().pool, x);
  const int64_t plane_size = volume(g.in), row = g.in[2] * channels;
  const std::vector<PoolBand> depths = bands_of(g, 0, g.in[1] * row), heights = bands_of(g, 1, row),
                              widths = bands_of(g, 2, channels);
  const int64_t least = least_rows(row_work(g) * (channels / 32 + 1), kScalarNs);
  base::parallel_for(pool, g.planes * g.out[0] * g.out[1], least, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const PoolBand &h = heights[i % g.out[1]], &d = depths[i / g.out[1] % g.out[0]];
      const T* plane = x + i / (g.out[1] * g.out[0]) * plane_size * channels;
      const PoolLines lines{1,
                            0,
                            d.count,
                            g.dilation[0] * g.in[1] * row,
                            h.count,
                            g.dilation[1] * row,
                            g.dilation[2] * channels,
                            channels,
                            channels};
      steps.join_lines(plane + d.at + h.at, lines, widths.data(), g.out[2], y + i * g.out[2] * channels);
    }
  });
}

void average_pool_channels_last(base::ThreadPool* pool, const PoolGeometry& g, int64_t channels, bool count_pad,
                                const ByteAverage& average, const uint8_t* x, uint8_t* y) {
  const int64_t plane_size = volume(g.in);
  const RequantizeRow requantize = kernels().convert->requantize_row;
  for_each_window(
      pool, g,
      [&](int64_t plane, int64_t out, const Window& window) {
        const Scratch<int32_t> leased(channels);
        int32_t* const sums = leased.data();
        const int64_t inside = window.d.count * window.h.count * window.w.count;
        std::fill_n(sums, channels, static_cast<int32_t>(-inside * average.x_zero));
        const uint8_t* in = x + plane * plane_size * channels;
        for_each_tap(g, window,
                     [&](int64_t at) { accumulate_bytes(in + at * channels, channels, average.is_signed, sums); });
        const float scale = average.scale / static_cast<float>(count_pad ? window.padded : inside);
        requantize(sums, channels, nullptr, &scale, false, average.y_zero, average.is_signed, y + out * channels);
      },
      channels);
}

template void max_pool_cells(const float*, int64_t, const CellRange*, int64_t, const CellRange*, int64_t, float*);
template void max_pool_cells(const double*, int64_t, const CellRange*, int64_t, const CellRange*, int64_t, double*);
template void max_pool_channels_last(base::ThreadPool*, const PoolGeometry&, int64_t, const int8_t*, int8_t*);
template void max_pool_channels_last(base::ThreadPool*, const PoolGeometry&, int64_t, const uint8_t*, uint8_t*);
template void max_pool(base::ThreadPool*, const PoolGeometry&, const float*, float*, int64_t*, bool);
template void max_pool(base::ThreadPool*, const PoolGeometry&, const double*, double*, int64_t*, bool);
template void max_pool(base::ThreadPool*, const PoolGeometry&, const int16_t*, int16_t*, int64_t*, bool);
template void max_pool(base::ThreadPool*, const PoolGeometry&, const int8_t*, int8_t*, int64_t*, bool);
template void max_pool(base::ThreadPool*, const PoolGeometry&, const uint8_t*, uint8_t*, int64_t*, bool);
template void average_pool(base::ThreadPool*, const PoolGeometry&, bool, const float*, float*);
template void average_pool(base::ThreadPool*, const PoolGeometry&, bool, const double*, double*);
template void lp_pool(base::ThreadPool*, const PoolGeometry&, double, const float*, float*);
template void lp_pool(base::ThreadPool*, const PoolGeometry&, double, const double*, double*);

}  // namespace ortolan::cpu::kernels
