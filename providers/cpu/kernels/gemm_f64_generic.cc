// The fp64 product in generic's instructions.
#define ORTOLAN_ISA generic
#include "cpu/kernels/gemm_f64_body.h"
