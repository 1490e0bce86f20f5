// Functions in fp64: hands spans to the instruction set in use.
#include "cpu/kernels/elementwise/math_f64.h"

#include "base/threads/polled_loop.h"
#include "cpu/kernels/elementwise/math_f64_kernels.h"
#include "cpu/kernels/kernel_table.h"

namespace ortolan::cpu::kernels {

void unary(MathOp op, const double* x, double* y, int64_t n) {
  const auto function = kernels().math_f64->unary[static_cast<int>(op)];
  base::polled_loop(n, [&](int64_t begin, int64_t end) { function(x + begin, y + begin, end - begin); });
}

void remainders(const float* a, const float* b, float* y, int64_t n) { kernels().math_f64->remainders(a, b, y, n); }

}  // namespace ortolan::cpu::kernels
