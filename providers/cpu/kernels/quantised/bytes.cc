// Spans of bytes: by the instruction set in use.
#include "cpu/kernels/quantised/bytes.h"

#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/quantised/bytes_kernels.h"

namespace ortolan::cpu::kernels {

void map_bytes(const uint8_t* table, const uint8_t* x, int64_t n, uint8_t* y) { kernels().bytes->map(table, x, n, y); }

void add_bytes(const BytePair& pair, const uint8_t* a, const uint8_t* b, int64_t n, uint8_t* y) {
  kernels().bytes->add(pair, a, b, n, y);
}

void multiply_bytes(const BytePair& pair, const uint8_t* a, const uint8_t* b, int64_t n, uint8_t* y) {
  kernels().bytes->multiply(pair, a, b, n, y);
}

int64_t sum_bytes(const uint8_t* x, int64_t n, bool is_signed) { return kernels().bytes->sum(x, n, is_signed); }

void accumulate_bytes(const uint8_t* x, int64_t n, bool is_signed, int32_t* sums) {
  kernels().bytes->accumulate(x, n, is_signed, sums);
}

int32_t dot_s16(const int16_t* a, const int16_t* b, int64_t n) { return kernels().bytes->dot_s16(a, b, n); }

}  // namespace ortolan::cpu::kernels
