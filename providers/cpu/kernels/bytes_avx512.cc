// Spans of bytes in avx512's instructions.
#define ORTOLAN_ISA avx512
#include "cpu/kernels/bytes_body.h"
