// What one instruction set provides for pooling. Internal to this folder.
#pragma once

#include <cstdint>

namespace ortolan::cpu::kernels {

/** Pooling of one output row in two steps: join input rows, then join neighbours in the joined row. */
template <class T>
struct PoolRowKernels {
  /** to[i] = to[i] joined with row[i]. */
  void (*join_row)(const T* row, int64_t n, T* to);
  /** y[o] = join over t < taps of x[o*stride + t*dilation], for o < count. */
  void (*join_neighbours)(const T* x, int64_t taps, int64_t dilation, int64_t stride, int64_t count, T* y);
};

struct PoolKernels {
  PoolRowKernels<float> max_f32;
  PoolRowKernels<double> max_f64;
  PoolRowKernels<int8_t> max_s8;
  PoolRowKernels<uint8_t> max_u8;
  PoolRowKernels<float> sum_f32;
};

}  // namespace ortolan::cpu::kernels
