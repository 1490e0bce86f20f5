// Conversions in avx2's instructions.
#define ORTOLAN_ISA avx2
#include "cpu/kernels/convert_body.h"
