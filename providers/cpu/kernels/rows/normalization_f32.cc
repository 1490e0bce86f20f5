// Softmax and layer normalisation: shares rows among threads.
#include "cpu/kernels/rows/normalization_f32.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/convert.h"
#include "cpu/kernels/elementwise/vector_f32.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/layout/move_kernels.h"
#include "cpu/kernels/rows/long_rows_f32.h"
#include "cpu/kernels/scratch.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr int64_t kTurnedRows = 256;
constexpr int64_t kShortSoftmax = 24;

int64_t least_rows_of(int64_t columns) { return least_rows(columns, kRowElementNs); }

bool has_sum(const LayerNorm& args) { return args.skip != nullptr || args.skip_bias != nullptr || args.sum != nullptr; }

// The rows that are normalised: x itself, or x with what is added to it, stored in `sum` or else in y.
const float* summed_rows(const LayerNorm& args, int64_t begin, int64_t end, const RowF32Kernels& rows) {
  const int64_t n = args.columns;
  if (!has_sum(args)) return args.x + begin * n;
  float* sums = args.sum != nullptr ? args.sum : args.y;
  for (int64_t row = begin; row < end; ++row) {
    const int64_t skip_row = args.skip_rows > 0 ? row % args.skip_rows : row;
    rows.add_rows(args.x + row * n, args.skip == nullptr ? nullptr : args.skip + skip_row * n, args.skip_bias,
                  sums + row * n, n);
  }
  return sums + begin * n;
}

template <class T>
T* at_or_null(T* p, int64_t offset) {
  return p == nullptr ? nullptr : p + offset;
}

/** One row, already summed. */
void normalize_summed(const LayerNorm& args, const float* x, int64_t row, ValueRange* range) {
  LayerNorm one = args;
  one.x = x;
  one.y = args.y + row * args.columns;
  one.mean = at_or_null(args.mean, row);
  one.inverse_std = at_or_null(args.inverse_std, row);
  one.range = range;
  normalize_long_row(one);
}

void normalize(const LayerNorm& args, int64_t begin, int64_t end, ValueRange* range) {
  constexpr int64_t kRows = 4;  // added and then normalised while they are in the cache
  const auto& rows = *kernels().rows;
  const int64_t step = has_sum(args) ? kRows : end - begin;
  for (int64_t row = begin; row < end; row += step) {
    const int64_t last = std::min(end, row + step);
    if (args.columns > kLongRow) [[unlikely]] {
      for (int64_t i = row; i < last; ++i) normalize_summed(args, summed_rows(args, i, i + 1, rows), i, range);
      continue;
    }
    rows.normalize_rows({last - row, args.columns, summed_rows(args, row, last, rows), args.scale, args.bias, !args.rms,
                         args.epsilon, args.y + row * args.columns, at_or_null(args.mean, row),
                         at_or_null(args.inverse_std, row), range});
  }
}

/** Rows that would fill little of a vector: blocks of them are turned, so that each lane has a row of its own. */
void softmax_short_rows(base::ThreadPool* pool, const float* x, int64_t count, int64_t n, bool logarithm, float* y) {
  const auto& table = kernels();
  const auto transpose = table.move->transpose[2];
  base::parallel_for(pool, (count + kTurnedRows - 1) / kTurnedRows, least_rows_of(kTurnedRows * n),
                     [&](int64_t begin, int64_t end) {
                       const Scratch<float> scratch((n + 2) * kTurnedRows);
                       float* turned = scratch.data() + 2 * kTurnedRows;
                       for (int64_t i = begin; i < end; ++i) {
                         const int64_t first = i * kTurnedRows, rows = std::min(kTurnedRows, count - first);
                         transpose(x + first * n, n, rows, n, turned, rows);
                         table.rows->softmax_columns(turned, n, rows, rows, logarithm, scratch.data(), turned);
                         transpose(turned, rows, n, rows, y + first * n, n);
                       }
                     });
}

}  // namespace

void softmax(base::ThreadPool* pool, const float* x, int64_t outer, int64_t axis, int64_t inner, bool logarithm,
             float* y) {
  if (outer == 0 || axis == 0 || inner == 0) return;
  const auto& rows = *kernels().rows;
  if (inner == 1 && axis <= kShortSoftmax && outer > 1) return softmax_short_rows(pool, x, outer, axis, logarithm, y);
  if (inner == 1) {
    base::parallel_for(pool, outer, least_rows_of(axis), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        if (axis > kLongRow) [[unlikely]] {
          softmax_long_row(x + row * axis, axis, logarithm, y + row * axis);
          continue;
        }
        rows.softmax_row(x + row * axis, 1.0f, nullptr, axis, logarithm, y + row * axis);
      }
    });
    return;
  }
  const int64_t pieces = (inner + kTurnedRows - 1) / kTurnedRows;
  base::parallel_for(pool, outer * pieces, least_rows_of(axis * std::min(inner, kTurnedRows)),
                     [&](int64_t begin, int64_t end) {
                       const Scratch<float> scratch(2 * kTurnedRows);
                       for (int64_t i = begin; i < end; ++i) {
                         const int64_t column = i % pieces * kTurnedRows, at = i / pieces * axis * inner + column;
                         rows.softmax_columns(x + at, axis, inner, std::min(kTurnedRows, inner - column), logarithm,
                                              scratch.data(), y + at);
                       }
                     });
}

void softmax_row(const float* x, float scale, const float* mask, int64_t n, float* y) {
  if (n > 0) kernels().rows->softmax_row(x, scale, mask, n, false, y);
}

float weigh_row(float* x, int64_t n, float* maximum) { return kernels().rows->weigh_row(x, n, maximum); }

void weigh_rows(float* x, int64_t rows, int64_t n, const float* added, int64_t added_stride, float* maxima,
                float* totals) {
  kernels().rows->weigh_rows(x, rows, n, added, added_stride, maxima, totals);
}

void scale_rows(const float* x, int64_t rows, int64_t n, const float* factors, float* y, int64_t stride,
                ValueRange* range) {
  kernels().rows->scale_rows(x, rows, n, factors, y, stride, range);
}

void layer_norm(base::ThreadPool* pool, const LayerNorm& args) {
  std::mutex mutex;
  base::parallel_for(pool, args.rows, least_rows_of(args.columns), [&](int64_t begin, int64_t end) {
    ValueRange range;
    normalize(args, begin, end, args.range != nullptr ? &range : nullptr);
    if (args.range == nullptr) return;
    const std::lock_guard lock(mutex);
    args.range->include(range);
  });
}

void row_moments(base::ThreadPool* pool, const float* x, int64_t rows, int64_t n, float* mean, float* variance) {
  const auto moments = kernels().rows->moments;
  base::parallel_for(pool, rows, least_rows_of(n), [&](int64_t begin, int64_t end) {
    const auto of_row = n > kLongRow ? long_row_moments : moments;
    for (int64_t row = begin; row < end; ++row) of_row(x + row * n, n, true, mean + row, variance + row);
  });
}

void scale_channels(base::ThreadPool* pool, const float* x, int64_t outer, int64_t channels, int64_t inner,
                    const float* scale, const float* shift, float* y) {
  if (inner == 1) {
    base::parallel_for(pool, outer, least_rows(channels, kElementNs), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        multiply_add(x + row * channels, scale, shift, y + row * channels, channels);
      }
    });
    return;
  }
  base::parallel_for(pool, outer * channels, least_rows(inner, kElementNs), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      scale_shift(x + i * inner, scale[i % channels], shift[i % channels], y + i * inner, inner);
    }
  });
}

}  // namespace ortolan::cpu::kernels
