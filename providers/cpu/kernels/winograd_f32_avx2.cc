// Winograd's transforms in avx2's instructions.
#define ORTOLAN_ISA avx2
#include "cpu/kernels/winograd_f32_body.h"
