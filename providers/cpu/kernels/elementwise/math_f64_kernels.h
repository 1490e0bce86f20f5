// What one instruction set provides for functions in fp64. Internal to the kernels.
#pragma once

#include "cpu/kernels/elementwise/math_f64.h"

namespace ortolan::cpu::kernels {

struct MathF64Kernels {
  using Unary = void (*)(const double* x, double* y, int64_t n);
  Unary unary[static_cast<int>(MathOp::kCount)];
  void (*remainders)(const float* a, const float* b, float* y, int64_t n);
};

}  // namespace ortolan::cpu::kernels
