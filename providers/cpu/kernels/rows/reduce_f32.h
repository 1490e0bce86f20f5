// Reductions of fp32 along one axis. Sums run in many partial sums, so their error hardly grows with length.
#pragma once

#include <cstdint>

namespace ortolan::base {
class ThreadPool;
}

namespace ortolan::cpu::kernels {

/** Max and min give NaN where any element is NaN. Of no elements: sums 0, product 1, max -inf, min +inf. */
enum class ReduceOp : uint8_t { kSum, kSumSquares, kSumAbs, kProduct, kMax, kMin, kCount };

/** The reduction of a contiguous span. */
float reduce(ReduceOp op, const float* x, int64_t n);

/** x is [outer][axis][inner]; y is [outer][inner], not overlapping x. `pool` may be nullptr. */
void reduce_axis(base::ThreadPool* pool, ReduceOp op, const float* x, int64_t outer, int64_t axis, int64_t inner,
                 float* y);

/** sum of a[i]*b[i]. */
float dot(const float* a, const float* b, int64_t n);

/** The largest of x[i] (NaN passed over) as an index, the first or the last of equals; n > 0. */
int64_t arg_max(const float* x, int64_t n, bool last);

}  // namespace ortolan::cpu::kernels
