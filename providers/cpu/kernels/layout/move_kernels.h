// What one instruction set provides for moving elements. Internal to the kernels.
#pragma once

#include <cstdint>

namespace ortolan::cpu::kernels {

/** y[j][i] = x[i][j] for i < rows, j < columns; both strides, between the rows of x and of y, in elements. */
using TransposePlane = void (*)(const void* x, int64_t x_stride, int64_t rows, int64_t columns, void* y,
                                int64_t y_stride);

struct MoveKernels {
  /** For elements of 1, 2, 4 and 8 bytes. */
  TransposePlane transpose[4];
};

}  // namespace ortolan::cpu::kernels
