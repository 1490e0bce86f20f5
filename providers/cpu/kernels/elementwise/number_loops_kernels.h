// What one instruction set provides for loops over numbers. Internal to the kernels.
#pragma once

#include "cpu/kernels/elementwise/number_loops.h"
#include "cpu/kernels/elementwise/number_matrices.h"

namespace ortolan::cpu::kernels {

/** Entries are nullptr where number_loops.h promises nothing. */
struct NumberKernels {
  using Unary = void (*)(const void* x, void* y, int64_t n, double slope);
  using Reduce = void (*)(const void* x, int64_t n, void* y);
  using Find = int64_t (*)(const void* value, const void* x, int64_t n);
  /** Contracts: number_matrices.h; c's rows are ldc apart. */
  template <class T>
  using Product = void (*)(int64_t m, int64_t n, int64_t k, const StridedMatrix<T>& a, const StridedMatrix<T>& b, T* c,
                           int64_t ldc);
  template <class T>
  using Subtract = void (*)(const T* x, const T* factors, T* rows, int64_t stride, int64_t count, int64_t n);
  NumberLoops binary[static_cast<int>(NumberOp::kCount)][kNumbers];
  Unary unary[static_cast<int>(NumberUnary::kCount)][kNumbers];
  Reduce reduce[static_cast<int>(ReduceOp::kCount)][kNumbers];
  Find find[kNumbers];
  Product<uint32_t> product_u32;
  Product<uint64_t> product_u64;
  Subtract<float> subtract_f32;
  Subtract<double> subtract_f64;
  void (*add_rows_f32)(const float* x, int64_t x_stride, float* y, int64_t y_stride, int64_t count, int64_t n);
};

}  // namespace ortolan::cpu::kernels
