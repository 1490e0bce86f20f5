// Loops over numbers in avx512's instructions.
#define ORTOLAN_ISA avx512
#include "cpu/kernels/number_loops_body.h"
