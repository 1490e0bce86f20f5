// Row kernels of fp32 in avx2's instructions.
#define ORTOLAN_ISA avx2
#include "cpu/kernels/row_f32_body.h"
