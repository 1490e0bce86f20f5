// Recurrent cells in generic's instructions.
#define ORTOLAN_ISA generic
#include "cpu/kernels/recurrent_f32_body.h"
