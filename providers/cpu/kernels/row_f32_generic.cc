// Row kernels of fp32 in generic's instructions.
#define ORTOLAN_ISA generic
#include "cpu/kernels/row_f32_body.h"
