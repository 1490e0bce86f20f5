// Winograd's transforms in whole numbers in generic's instructions.
#define ORTOLAN_ISA generic
#include "cpu/kernels/winograd_int16_body.h"
