// fp32 functions that one instruction set computes through fp64, in another file than the tables that name them.
// Contracts: vector_f32.h. Included as vec.h is.
#pragma once

#include "cpu/kernels/vectors/vec.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {

void span_tan(const float* x, float* y, int64_t n, float, float);
void span_sinh(const float* x, float* y, int64_t n, float, float);
void span_cosh(const float* x, float* y, int64_t n, float, float);
void span_asinh(const float* x, float* y, int64_t n, float, float);
void span_acosh(const float* x, float* y, int64_t n, float, float);
void span_atanh(const float* x, float* y, int64_t n, float, float);
void span_pow(const float* a, const float* b, float* y, int64_t n);
void span_pow_scalar(const float* a, float b, float* y, int64_t n);
void span_scalar_pow(float a, const float* b, float* y, int64_t n);

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
