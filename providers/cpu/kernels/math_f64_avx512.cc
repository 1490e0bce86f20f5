// Functions in fp64 in avx512's instructions.
#define ORTOLAN_ISA avx512
#include "cpu/kernels/math_f64_body.h"
