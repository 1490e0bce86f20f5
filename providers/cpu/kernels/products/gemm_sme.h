// fp32 products by outer products (SME). Internal to the kernels.
#pragma once

#include "cpu/kernels/products/gemm_f32_kernels.h"

namespace ortolan::cpu::kernels::sme {

/** For streaming vectors of so many floats: 4, 8, 16 or 32. A thread whose vectors have another length computes the
    same sums without them. */
const GemmF32Kernels* gemm_f32_of(int lanes) noexcept;

}  // namespace ortolan::cpu::kernels::sme
