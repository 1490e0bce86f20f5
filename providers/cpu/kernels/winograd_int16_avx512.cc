// Winograd's transforms in whole numbers in avx512's instructions.
#define ORTOLAN_ISA avx512
#include "cpu/kernels/winograd_int16_body.h"
