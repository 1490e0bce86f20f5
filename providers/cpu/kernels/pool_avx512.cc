// Pooling of rows in avx512's instructions.
#define ORTOLAN_ISA avx512
#include "cpu/kernels/pool_body.h"
