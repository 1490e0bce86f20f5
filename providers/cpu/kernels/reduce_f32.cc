// Reductions of fp32: shares rows or columns among threads.
#include "cpu/kernels/reduce_f32.h"

#include <algorithm>
#include <utility>

#include "base/polled_loop.h"
#include "base/thread_pool.h"
#include "cpu/kernels/aligned_buffer.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/long_rows_f32.h"
#include "cpu/kernels/move_kernels.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr int64_t kReduceGrain = 16384;  // elements worth a thread
constexpr int64_t kColumns = 256;        // columns of one piece of work
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
  base::parallel_for(pool, (rows + kColumns - 1) / kColumns, kReduceGrain / (length * kColumns) + 1,
                     [&](int64_t begin, int64_t end) {
                       float* turned = thread_scratch<float>(Scratch::kColumns, length * kColumns);
                       for (int64_t row = begin * kColumns; row < std::min(rows, end * kColumns); row += kColumns) {
                         const int64_t count = std::min(kColumns, rows - row);
                         transpose(x + row * length, length, count, length, turned, count);
                         reduce_columns(turned, length, count, count, y + row);
                       }
                     });
}

}  // namespace

void reduce_axis(base::ThreadPool* pool, ReduceOp op, const float* x, int64_t outer, int64_t axis, int64_t inner,
                 float* y) {
  if (outer == 0 || inner == 0) return;
  if (axis == 1) inner *= std::exchange(outer, 1);  // each element is a column of its own
  const auto& rows = *kernels().rows;
  if (inner == 1 && axis > 0 && axis <= kShortRow && outer >= kFewestShortRows) {
    return reduce_short_rows(pool, op, x, outer, axis, y);
  }
  if (inner == 1) {
    base::parallel_for(pool, outer, kReduceGrain / std::max<int64_t>(axis, 1) + 1, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) y[row] = reduce(op, x + row * axis, axis);
    });
    return;
  }
  const auto reduce_columns = rows.reduce_columns[static_cast<int>(op)];
  const int64_t pieces = (inner + kColumns - 1) / kColumns;
  const int64_t work = std::max<int64_t>(axis, 1) * std::min(inner, kColumns);
  base::parallel_for(pool, outer * pieces, kReduceGrain / work + 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i / pieces, column = i % pieces * kColumns;
      reduce_columns(x + row * axis * inner + column, axis, inner, std::min(kColumns, inner - column),
                     y + row * inner + column);
    }
  });
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
