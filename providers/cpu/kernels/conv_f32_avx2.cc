// Convolution's own loops in avx2's instructions.
#define ORTOLAN_ISA avx2
#include "cpu/kernels/conv_f32_body.h"
