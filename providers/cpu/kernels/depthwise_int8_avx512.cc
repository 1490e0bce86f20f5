// Depthwise convolution of bytes in avx512's instructions.
#define ORTOLAN_ISA avx512
#include "cpu/kernels/depthwise_int8_body.h"
