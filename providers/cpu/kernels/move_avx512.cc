// Transposition of planes in avx512's instructions.
#define ORTOLAN_ISA avx512
#include "cpu/kernels/move_body.h"
