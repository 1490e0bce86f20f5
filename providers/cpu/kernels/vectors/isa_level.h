// The instruction set that a body is compiled for. Included as vec.h is.
#pragma once

#include "base/isa/isa_level.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {

constexpr base::IsaLevel kLevel =
#if defined(__AMX_TILE__)
    base::IsaLevel::kAmx;
#elif defined(__AVX512VNNI__)
    base::IsaLevel::kAvx512Vnni;
#elif defined(__AVX512F__)
    base::IsaLevel::kAvx512;
#elif defined(__AVXVNNI__)
    base::IsaLevel::kAvxVnni;
#elif defined(__AVX2__)
    base::IsaLevel::kAvx2;
#elif defined(__aarch64__) && defined(__ARM_FEATURE_MATMUL_INT8)
    base::IsaLevel::kI8mm;
#elif defined(__aarch64__) && defined(__ARM_FEATURE_DOTPROD)
    base::IsaLevel::kDotprod;
#else
    base::IsaLevel::kGeneric;
#endif

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
