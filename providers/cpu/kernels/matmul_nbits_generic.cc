// Products with narrow weights in generic's instructions.
#define ORTOLAN_ISA generic
#include "cpu/kernels/matmul_nbits_body.h"
