// Elementary functions of contiguous fp64 spans, and those of fp32 that are computed through fp64. One thread.
#pragma once

#include <cstdint>

namespace ortolan::cpu::kernels {

enum class MathOp : uint8_t { kExp, kLog, kTanh, kSigmoid, kSin, kCos, kCount };

/** y[i] = op(x[i]); y may be x. Within three units in the last place of fp64. */
void unary(MathOp op, const double* x, double* y, int64_t n);

/** y[i] = the remainder of a[i] / b[i] with the sign of a[i], exactly; y may be an input. */
void remainders(const float* a, const float* b, float* y, int64_t n);

}  // namespace ortolan::cpu::kernels
