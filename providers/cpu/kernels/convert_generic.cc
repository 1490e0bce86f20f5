// Conversions in generic's instructions.
#define ORTOLAN_ISA generic
#include "cpu/kernels/convert_body.h"
