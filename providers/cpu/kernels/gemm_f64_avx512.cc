// The fp64 product in avx512's instructions.
#define ORTOLAN_ISA avx512
#include "cpu/kernels/gemm_f64_body.h"
