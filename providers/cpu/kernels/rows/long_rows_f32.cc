// Single long rows, block by block.
#include "cpu/kernels/rows/long_rows_f32.h"

#include <algorithm>
#include <cmath>

#include "base/threads/polled_loop.h"
#include "cpu/kernels/elementwise/convert.h"
#include "cpu/kernels/elementwise/vector_f32.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/vectors/sum_block.h"

namespace ortolan::cpu::kernels {
namespace {

/** The sum in fp64 of sum(first, count) over blocks of kSumBlock elements. */
template <class SumOfBlock>
double sum_blocks(int64_t n, SumOfBlock&& sum) {
  double total = 0;
  base::polled_loop(n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += kSumBlock) total += sum(i, std::min(kSumBlock, end - i));
  });
  return total;
}

bool adds(ReduceOp op) { return op == ReduceOp::kSum || op == ReduceOp::kSumSquares || op == ReduceOp::kSumAbs; }

}  // namespace

float reduce_long_row(ReduceOp op, const float* x, int64_t n) {
  const auto reduce_row = kernels().rows->reduce[static_cast<int>(op)];
  if (adds(op)) {
    return static_cast<float>(
        sum_blocks(n, [&](int64_t first, int64_t count) { return reduce_row(x + first, count); }));
  }
  float result = reduce_row(x, 0);
  base::polled_loop(n, [&](int64_t begin, int64_t end) {
    const float joined[] = {result, reduce_row(x + begin, end - begin)};
    result = reduce_row(joined, 2);
  });
  return result;
}

void softmax_long_row(const float* x, int64_t n, bool logarithm, float* y) {
  const float largest = reduce_long_row(ReduceOp::kMax, x, n);
  const double total = sum_blocks(n, [&](int64_t first, int64_t count) {
    float powers[kSumBlock];
    float* to = logarithm ? powers : y + first;
    binary(BinaryOp::kSub, x + first, largest, to, count);
    if (logarithm) std::copy_n(to, count, y + first);
    unary({UnaryOp::kExp}, to, to, count);
    return reduce(ReduceOp::kSum, to, count);
  });
  const auto sum = static_cast<float>(total);
  scale_shift(y, logarithm ? 1.0f : 1.0f / sum, logarithm ? -std::log(sum) : 0.0f, y, n);
}

void long_row_moments(const float* x, int64_t n, bool centred, float* mean, float* variance) {
  const auto count = static_cast<float>(n);
  *mean = centred ? reduce_long_row(ReduceOp::kSum, x, n) / count : 0.0f;
  const double squares = sum_blocks(n, [&](int64_t first, int64_t size) {
    float apart[kSumBlock];
    binary(BinaryOp::kSub, x + first, *mean, apart, size);
    return reduce(ReduceOp::kSumSquares, apart, size);
  });
  *variance = static_cast<float>(squares) / count;
}

void normalize_long_row(const LayerNorm& args) {
  float mean, variance;
  long_row_moments(args.x, args.columns, !args.rms, &mean, &variance);
  const float factor = 1.0f / std::sqrt(variance + args.epsilon);
  base::polled_loop(args.columns, [&](int64_t begin, int64_t end) {
    const int64_t count = end - begin;
    float* y = args.y + begin;
    binary(BinaryOp::kSub, args.x + begin, mean, y, count);
    binary(BinaryOp::kMul, y, factor, y, count);
    if (args.scale != nullptr) binary(BinaryOp::kMul, y, args.scale + begin, y, count);
    if (args.bias != nullptr) binary(BinaryOp::kAdd, y, args.bias + begin, y, count);
    if (args.range == nullptr) return;
    ValueRange range;
    min_max(y, count, &range.low, &range.high);
    args.range->include(range);
  });
  if (args.mean != nullptr) *args.mean = mean;
  if (args.inverse_std != nullptr) *args.inverse_std = factor;
}

}  // namespace ortolan::cpu::kernels
