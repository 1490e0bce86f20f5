// Loops over numbers in generic's instructions.
#define ORTOLAN_ISA generic
#include "cpu/kernels/number_loops_body.h"
