// Transposition of planes in generic's instructions.
#define ORTOLAN_ISA generic
#include "cpu/kernels/move_body.h"
