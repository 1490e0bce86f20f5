// Elementwise fp32 functions in generic's instructions.
#define ORTOLAN_ISA generic
#include "cpu/kernels/vector_f32_body.h"
