// The integer product in generic's instructions.
#define ORTOLAN_ISA generic
#include "cpu/kernels/gemm_int8_body.h"
