// Elementwise fp32 functions in avx512's instructions.
#define ORTOLAN_ISA avx512
#include "cpu/kernels/vector_f32_body.h"
