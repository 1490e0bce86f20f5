// Winograd's transforms in avx512's instructions.
#define ORTOLAN_ISA avx512
#include "cpu/kernels/winograd_f32_body.h"
