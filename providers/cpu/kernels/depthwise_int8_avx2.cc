// Depthwise convolution of bytes in avx2's instructions.
#define ORTOLAN_ISA avx2
#include "cpu/kernels/depthwise_int8_body.h"
