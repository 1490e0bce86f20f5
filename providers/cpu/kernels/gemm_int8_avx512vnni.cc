// The integer product in avx512vnni's instructions.
#define ORTOLAN_ISA avx512vnni
#include "cpu/kernels/gemm_int8_body.h"
