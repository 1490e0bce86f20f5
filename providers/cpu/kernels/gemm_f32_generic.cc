// The fp32 product in generic's instructions.
#define ORTOLAN_ISA generic
#include "cpu/kernels/gemm_f32_body.h"
