// Casts of spans in avx512's instructions.
#define ORTOLAN_ISA avx512
#include "cpu/kernels/cast_body.h"
