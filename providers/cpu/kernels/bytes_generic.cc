// Spans of bytes in generic's instructions.
#define ORTOLAN_ISA generic
#include "cpu/kernels/bytes_body.h"
