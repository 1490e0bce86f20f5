// Reductions, softmax and normalisation of single rows that are too long for one call, in pieces between which the run
// may be asked to stop.
#pragma once

#include "cpu/kernels/rows/normalization_f32.h"
#include "cpu/kernels/rows/reduce_f32.h"

namespace ortolan::cpu::kernels {

/** Longer rows take some ten milliseconds. */
inline constexpr int64_t kLongRow = int64_t{1} << 22;

/** As the functions of those names do to one row. */
float reduce_long_row(ReduceOp op, const float* x, int64_t n);
void softmax_long_row(const float* x, int64_t n, bool logarithm, float* y);
void long_row_moments(const float* x, int64_t n, bool centred, float* mean, float* variance);
/** The one row of `args`, which has no skip, bias of it or sum. */
void normalize_long_row(const LayerNorm& args);

}  // namespace ortolan::cpu::kernels
