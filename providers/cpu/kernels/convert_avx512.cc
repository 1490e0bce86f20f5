// Conversions in avx512's instructions.
#define ORTOLAN_ISA avx512
#include "cpu/kernels/convert_body.h"
