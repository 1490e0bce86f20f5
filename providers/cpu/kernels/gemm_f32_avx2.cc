// The fp32 product in avx2's instructions.
#define ORTOLAN_ISA avx2
#include "cpu/kernels/gemm_f32_body.h"
