// Convolution's own loops in generic's instructions.
#define ORTOLAN_ISA generic
#include "cpu/kernels/conv_f32_body.h"
