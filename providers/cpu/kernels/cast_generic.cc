// Casts of spans in generic's instructions.
#define ORTOLAN_ISA generic
#include "cpu/kernels/cast_body.h"
