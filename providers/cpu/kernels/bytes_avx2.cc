// Spans of bytes in avx2's instructions.
#define ORTOLAN_ISA avx2
#include "cpu/kernels/bytes_body.h"
