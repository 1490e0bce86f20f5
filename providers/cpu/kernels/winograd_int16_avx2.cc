// Winograd's transforms in whole numbers in avx2's instructions.
#define ORTOLAN_ISA avx2
#include "cpu/kernels/winograd_int16_body.h"
