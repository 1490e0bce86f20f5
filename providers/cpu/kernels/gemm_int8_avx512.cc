// The integer product in avx512's instructions.
#define ORTOLAN_ISA avx512
#include "cpu/kernels/gemm_int8_body.h"
