// Loops over numbers in avx2's instructions.
#define ORTOLAN_ISA avx2
#include "cpu/kernels/number_loops_body.h"
