// Products with narrow weights in avx512's instructions.
#define ORTOLAN_ISA avx512
#include "cpu/kernels/matmul_nbits_body.h"
