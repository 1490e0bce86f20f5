// Transposition of planes in avx2's instructions.
#define ORTOLAN_ISA avx2
#include "cpu/kernels/move_body.h"
