// Functions in fp64 in avx2's instructions.
#define ORTOLAN_ISA avx2
#include "cpu/kernels/math_f64_body.h"
