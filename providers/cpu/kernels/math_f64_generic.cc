// Functions in fp64 in generic's instructions.
#define ORTOLAN_ISA generic
#include "cpu/kernels/math_f64_body.h"
