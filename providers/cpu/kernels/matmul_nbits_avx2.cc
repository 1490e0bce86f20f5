// Products with narrow weights in avx2's instructions.
#define ORTOLAN_ISA avx2
#include "cpu/kernels/matmul_nbits_body.h"
