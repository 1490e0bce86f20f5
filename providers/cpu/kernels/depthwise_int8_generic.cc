// Depthwise convolution of bytes in generic's instructions.
#define ORTOLAN_ISA generic
#include "cpu/kernels/depthwise_int8_body.h"
