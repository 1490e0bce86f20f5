// Winograd's transforms in generic's instructions.
#define ORTOLAN_ISA generic
#include "cpu/kernels/winograd_f32_body.h"
