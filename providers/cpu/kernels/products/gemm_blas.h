// Products of fp32 and fp64 by OpenBLAS, for processors that have no kernels of their own here. Internal to the
// kernels.
#pragma once

#include "cpu/kernels/products/gemm_f32_kernels.h"
#include "cpu/kernels/products/gemm_f64_kernels.h"

namespace ortolan::cpu::kernels {

extern const GemmF32Kernels kGemmF32OfBlas;
extern const GemmF64Kernels kGemmF64OfBlas;

}  // namespace ortolan::cpu::kernels
