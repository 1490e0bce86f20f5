// The largest or the smallest element of a row, by the vector functions.
#pragma once

#include "cpu/kernels/elementwise/number_loops.h"
#include "cpu/kernels/rows/reduce_f32.h"

namespace ortolan::cpu {

/** Of `count` > 0 elements; NaN where any is NaN. T: not of 16 bits. */
template <class T>
T extreme_of(bool largest, const T* row, int64_t count) {
  const auto op = largest ? kernels::ReduceOp::kMax : kernels::ReduceOp::kMin;
  if constexpr (std::is_same_v<T, float>) {
    return kernels::reduce(op, row, count);
  } else {
    return kernels::reduce_numbers(op, row, count);
  }
}

}  // namespace ortolan::cpu
