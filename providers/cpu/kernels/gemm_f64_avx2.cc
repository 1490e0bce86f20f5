// The fp64 product in avx2's instructions.
#define ORTOLAN_ISA avx2
#include "cpu/kernels/gemm_f64_body.h"
