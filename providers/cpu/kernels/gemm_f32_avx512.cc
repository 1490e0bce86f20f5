// The fp32 product in avx512's instructions.
#define ORTOLAN_ISA avx512
#include "cpu/kernels/gemm_f32_body.h"
