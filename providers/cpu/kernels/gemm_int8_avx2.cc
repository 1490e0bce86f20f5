// The integer product in avx2's instructions.
#define ORTOLAN_ISA avx2
#include "cpu/kernels/gemm_int8_body.h"
