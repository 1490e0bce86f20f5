// Products with narrow weights in avx512vnni's instructions.
#define ORTOLAN_ISA avx512vnni
#include "cpu/kernels/matmul_nbits_body.h"
