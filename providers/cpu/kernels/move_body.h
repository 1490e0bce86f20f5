// Transposition of planes of 4-byte elements for one instruction set. Included as vec.h is.
#pragma once

#include "cpu/kernels/vec_transpose.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {

/**
 * The element of `from` at row i (byte stride from_stride), column j goes to row j (byte stride to_stride), column i of
 * `to`, for i < rows, j < columns.
 */
void transpose4(const void* from, int64_t from_stride, int64_t rows, int64_t columns, void* to, int64_t to_stride) {
  const float* x = static_cast<const float*>(from);
  float* y = static_cast<float*>(to);
  const int64_t x_stride = from_stride / 4, y_stride = to_stride / 4;
  int64_t i = 0;
  for (; i + kLanes <= rows; i += kLanes) {
    int64_t j = 0;
    for (; j + 4 <= columns; j += 4) {
      Vf out[4];
      load_transposed(x + i * x_stride + j, x_stride, out);
      for (int q = 0; q < 4; ++q) store(y + (j + q) * y_stride + i, out[q]);
    }
    for (; j < columns; ++j) {
      for (int q = 0; q < kLanes; ++q) y[j * y_stride + i + q] = x[(i + q) * x_stride + j];
    }
  }
  for (; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) y[j * y_stride + i] = x[i * x_stride + j];
  }
}

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
