// Reductions of fp32: shares rows or columns among threads.
#include "cpu/kernels/rows/reduce_f32.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/aligned_buffer.h"
#include "cpu/kernels/division/row_division.h"
#include "cpu/kernels/division/threads.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/layout/move_kernels.h"
#include "cpu/kernels/rows/long_rows_f32.h"
#include "cpu/kernels/scratch.h"
#include "cpu/kernels/vectors/sum_block.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr int64_t kShortRow = 32, kFewestShortRows = 16;

}  // namespace

float reduce(ReduceOp op, const float* x, int64_t n) {
  if (n > kLongRow) [[unlikely]]
    return reduce_long_row(op, x, n);
  return kernels().rows->reduce[static_cast<int>(op)](x, n);
}

float dot(const float* a, const float* b, int64_t n) { return kernels().rows->dot(a, b, n); }

namespace {

// Rows too short for vectors, made columns some at a time.
void reduce_short_rows(base::ThreadPool* pool, ReduceOp op, const float* x, int64_t rows, int64_t length, float* y) {
  const auto reduce_columns = kernels().rows->reduce_columns[static_cast<int>(op)];
  const auto transpose = kernels().move->transpose[2];
  base::parallel_for(pool, (rows + kMostColumns - 1) / kMostColumns, least_rows(length * kMostColumns, kElementNs),
                     [&](int64_t begin, int64_t end) {
                       const Scratch<float> turned(length * kMostColumns);
                       for (int64_t row = begin * kMostColumns; row < std::min(rows, end * kMostColumns);
                            row += kMostColumns) {
                         const int64_t count = std::min(kMostColumns, rows - row);
                         transpose(x + row * length, length, count, length, turned.data(), count);
                         reduce_columns(turned.data(), length, count, count, y + row);
                       }
                     });
}

bool adds_up(ReduceOp op) { return op == ReduceOp::kSum || op == ReduceOp::kSumSquares || op == ReduceOp::kSumAbs; }

/** What joins results of `op`. */
ReduceOp joining_op(ReduceOp op) { return adds_up(op) ? ReduceOp::kSum : op; }

/** Calls body(begin, end), on the pool if there is one; the run may be asked to stop in between either way. */
template <class Body>
void polled_for(base::ThreadPool* pool, int64_t count, int64_t least, Body&& body) {
  pool != nullptr ? pool->parallel_for(count, least, body) : base::polled_loop(count, body);
}

/** Rows block by block, as reduce() adds them up; other results are those of the blocks' results. */
void reduce_in_blocks(base::ThreadPool* pool, ReduceOp op, const float* x, int64_t outer, int64_t axis, float* y) {
  const auto reduce_row = kernels().rows->reduce[static_cast<int>(op)];
  const int64_t blocks = divide_up(axis, kSumBlock);
  AlignedBuffer buffer(static_cast<size_t>(outer * blocks) * sizeof(float));
  auto* results = buffer.as<float>();
  polled_for(pool, outer * blocks, least_rows(kSumBlock, kElementNs), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % blocks * kSumBlock;
      results[i] = reduce_row(x + i / blocks * axis + first, std::min(kSumBlock, axis - first));
    }
  });
  for (int64_t row = 0; row < outer; ++row, results += blocks) {
    y[row] =
        adds_up(op) ? static_cast<float>(std::accumulate(results, results + blocks, 0.0)) : reduce_row(results, blocks);
  }
}

void reduce_rows(base::ThreadPool* pool, ReduceOp op, const float* x, int64_t outer, int64_t axis, float* y) {
  if (takes_blocks(adds_up(op), outer, axis, threads_of(pool))) {
    return reduce_in_blocks(pool, op, x, outer, axis, y);
  }
  base::parallel_for(pool, outer, least_rows(axis, kElementNs), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) y[row] = reduce(op, x + row * axis, axis);
  });
}

/** x is [outer][axis][inner] with rows of an image `stride` elements long, y is [outer][inner]. */
void reduce_columns(base::ThreadPool* pool, ReduceOp op, const float* x, int64_t outer, int64_t axis, int64_t inner,
                    int64_t stride, float* y) {
  const auto reduce_piece = kernels().rows->reduce_columns[static_cast<int>(op)];
  const int64_t width = columns_at_once(outer, inner, threads_of(pool));
  const int64_t pieces = divide_up(inner, width);
  const int64_t least = least_rows(axis * std::min(inner, width), kElementNs);
  base::parallel_for(pool, outer * pieces, least, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i / pieces, column = i % pieces * width;
      reduce_piece(x + row * stride + column, axis, inner, std::min(width, inner - column), y + row * inner + column);
    }
  });
}

/** Long columns part by part, then their results. */
void reduce_long_columns(base::ThreadPool* pool, ReduceOp op, const float* x, int64_t outer, int64_t axis,
                         int64_t inner, float* y) {
  const int64_t parts = axis / kColumnPart, rest = axis - parts * kColumnPart;  // which the last part takes, too
  AlignedBuffer buffer(static_cast<size_t>(parts * inner) * sizeof(float));
  auto* results = buffer.as<float>();
  for (int64_t o = 0; o < outer; ++o, x += axis * inner) {
    const int64_t whole = rest == 0 ? parts : parts - 1;
    reduce_columns(pool, op, x, whole, kColumnPart, inner, kColumnPart * inner, results);
    if (rest > 0) {
      reduce_columns(pool, op, x + whole * kColumnPart * inner, 1, kColumnPart + rest, inner, 0,
                     results + whole * inner);
    }
    reduce_columns(pool, joining_op(op), results, 1, parts, inner, 0, y + o * inner);
  }
}

}  // namespace

void reduce_axis(base::ThreadPool* pool, ReduceOp op, const float* x, int64_t outer, int64_t axis, int64_t inner,
                 float* y) {
  if (outer == 0 || inner == 0) return;
  if (axis == 1) inner *= std::exchange(outer, 1);  // each element is a column of its own
  if (inner == 1 && axis > 0 && axis <= kShortRow && outer >= kFewestShortRows) {
    return reduce_short_rows(pool, op, x, outer, axis, y);
  }
  if (inner == 1) return reduce_rows(pool, op, x, outer, axis, y);
  if (axis >= 2 * kColumnPart) return reduce_long_columns(pool, op, x, outer, axis, inner, y);
  reduce_columns(pool, op, x, outer, axis, inner, axis * inner, y);
}

int64_t arg_max(const float* x, int64_t n, bool last) {
  int64_t best = 0;
  base::polled_loop(n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const bool better = x[i] > x[best] || (last && x[i] == x[best]) || (x[best] != x[best] && x[i] == x[i]);
      if (better) best = i;
    }
  });
  return best;
}

}  // namespace ortolan::cpu::kernels
