// Elementwise fp32 functions in avx2's instructions.
#define ORTOLAN_ISA avx2
#include "cpu/kernels/vector_f32_body.h"
