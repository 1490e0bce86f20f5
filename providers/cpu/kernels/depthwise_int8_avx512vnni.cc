// Depthwise convolution of bytes in avx512vnni's instructions.
#define ORTOLAN_ISA avx512vnni
#include "cpu/kernels/depthwise_int8_body.h"
