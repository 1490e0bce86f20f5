// Casts of spans in avx2's instructions.
#define ORTOLAN_ISA avx2
#include "cpu/kernels/cast_body.h"
