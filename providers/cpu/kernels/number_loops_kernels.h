// What one instruction set provides for loops over numbers. Internal to this folder.
#pragma once

#include "cpu/kernels/number_loops.h"

namespace ortolan::cpu::kernels {

/** Entries are nullptr where number_loops.h promises nothing. */
struct NumberKernels {
  using Unary = void (*)(const void* x, void* y, int64_t n, double slope);
  using Reduce = void (*)(const void* x, int64_t n, void* y);
  using Find = int64_t (*)(const void* value, const void* x, int64_t n);
  NumberLoops binary[static_cast<int>(NumberOp::kCount)][kNumbers];
  Unary unary[static_cast<int>(NumberUnary::kCount)][kNumbers];
  Reduce reduce[static_cast<int>(ReduceOp::kCount)][kNumbers];
  Find find[kNumbers];
};

}  // namespace ortolan::cpu::kernels
