// Recurrent cells in avx512's instructions.
#define ORTOLAN_ISA avx512
#include "cpu/kernels/recurrent_f32_body.h"
