// Casts: hands spans to the instruction set in use.
#include "cpu/kernels/elementwise/cast.h"

#include "base/threads/polled_loop.h"
#include "cpu/kernels/elementwise/cast_kernels.h"
#include "cpu/kernels/kernel_table.h"

namespace ortolan::cpu::kernels {
namespace {

int64_t bytes_of(Number type) {
  constexpr int64_t kBytes[kNumbers] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
  return kBytes[static_cast<int>(type)];
}

}  // namespace

void cast(Number from, const void* x, int64_t n, Number to, void* y) {
  const auto convert = kernels().cast->cast[static_cast<int>(from)][static_cast<int>(to)];
  if (n <= base::TerminatePoll::kUnits) return convert(x, n, y);
  const int64_t from_bytes = bytes_of(from), to_bytes = bytes_of(to);
  base::polled_loop(n, [&](int64_t begin, int64_t end) {
    convert(static_cast<const char*>(x) + begin * from_bytes, end - begin, static_cast<char*>(y) + begin * to_bytes);
  });
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
