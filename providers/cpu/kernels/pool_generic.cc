// Pooling of rows in generic's instructions.
#define ORTOLAN_ISA generic
#include "cpu/kernels/pool_body.h"
