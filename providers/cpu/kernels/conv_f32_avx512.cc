// Convolution's own loops in avx512's instructions.
#define ORTOLAN_ISA avx512
#include "cpu/kernels/conv_f32_body.h"
