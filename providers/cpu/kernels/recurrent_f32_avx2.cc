// Recurrent cells in avx2's instructions.
#define ORTOLAN_ISA avx2
#include "cpu/kernels/recurrent_f32_body.h"
