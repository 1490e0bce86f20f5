// What one instruction set provides for fp64 products. Internal to the kernels.
#pragma once

#include <cstdint>

namespace ortolan::cpu::kernels {

/** A block of a product: up to GemmF64Kernels::rows rows of A times a panel of B, GemmF64Kernels::columns wide. */
struct BlockF64 {
  int64_t rows, columns, depth;
  const double* a;
  int64_t a_row, a_column;  // strides of A
  const double* b;
  int64_t b_row;  // stride of the panel; each of its rows may be read whole
  double alpha, beta;
  double* c;
  int64_t ldc;
};

struct GemmF64Kernels {
  int64_t rows, columns;
  /** C = alpha*A*B + beta*C; C is not read where beta is 0. */
  void (*multiply)(const BlockF64& block);
};

}  // namespace ortolan::cpu::kernels
