// Pooling of rows in avx2's instructions.
#define ORTOLAN_ISA avx2
#include "cpu/kernels/pool_body.h"
