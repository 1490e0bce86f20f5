// Casts: hands spans to the instruction set in use.
#include "cpu/kernels/cast.h"

#include "cpu/kernels/cast_kernels.h"
#include "cpu/kernels/kernel_table.h"

namespace ortolan::cpu::kernels {

void cast(Number from, const void* x, int64_t n, Number to, void* y) {
  kernels().cast->cast[static_cast<int>(from)][static_cast<int>(to)](x, n, y);
}

void round_to_odd(const double* x, int64_t n, float* y) { kernels().cast->round_to_odd(x, n, y); }

template <>
void classify(const uint16_t* x, int64_t n, uint16_t infinity, const FloatClass& wanted, uint8_t* y) {
  kernels().cast->classify16(x, n, infinity, wanted, y);
}
template <>
void classify(const uint32_t* x, int64_t n, uint32_t infinity, const FloatClass& wanted, uint8_t* y) {
  kernels().cast->classify32(x, n, infinity, wanted, y);
}
template <>
void classify(const uint64_t* x, int64_t n, uint64_t infinity, const FloatClass& wanted, uint8_t* y) {
  kernels().cast->classify64(x, n, infinity, wanted, y);
}

}  // namespace ortolan::cpu::kernels
