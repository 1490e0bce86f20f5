// Row kernels of fp32 in avx512's instructions.
#define ORTOLAN_ISA avx512
#include "cpu/kernels/row_f32_body.h"
