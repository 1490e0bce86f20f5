// Elementwise fp32 functions: hands spans to the instruction set in use.
#include "cpu/kernels/elementwise/vector_f32.h"

#include "base/threads/polled_loop.h"
#include "cpu/kernels/kernel_table.h"

namespace ortolan::cpu::kernels {

void unary(Activation op, const float* x, float* y, int64_t n) {
  const auto function = kernels().vector->unary[static_cast<int>(op.op)];
  base::polled_loop(n, [&](int64_t begin, int64_t end) { function(x + begin, y + begin, end - begin, op.p0, op.p1); });
}

void binary(BinaryOp op, const float* a, const float* b, float* y, int64_t n) {
  const auto function = kernels().vector->binary[static_cast<int>(op)];
  base::polled_loop(n, [&](int64_t begin, int64_t end) { function(a + begin, b + begin, y + begin, end - begin); });
}

void binary(BinaryOp op, const float* a, float b, float* y, int64_t n) {
  const auto function = kernels().vector->binary_vs[static_cast<int>(op)];
  base::polled_loop(n, [&](int64_t begin, int64_t end) { function(a + begin, b, y + begin, end - begin); });
}

void binary(BinaryOp op, float a, const float* b, float* y, int64_t n) {
  const auto function = kernels().vector->binary_sv[static_cast<int>(op)];
  base::polled_loop(n, [&](int64_t begin, int64_t end) { function(a, b + begin, y + begin, end - begin); });
}

void scale_shift(const float* x, float a, float b, float* y, int64_t n) {
  const auto function = kernels().vector->scale_shift;
  base::polled_loop(n, [&](int64_t begin, int64_t end) { function(x + begin, a, b, y + begin, end - begin); });
}

void accumulate_scaled(const float* x, float a, float* y, int64_t n) {
  kernels().vector->accumulate_scaled(x, a, y, n);
}

void multiply_add(const float* a, const float* b, const float* c, float* y, int64_t n) {
  const auto function = kernels().vector->multiply_add;
  base::polled_loop(
      n, [&](int64_t begin, int64_t end) { function(a + begin, b + begin, c + begin, y + begin, end - begin); });
}

void rotate_halves(const float* x, const float* cosine, const float* sine, int64_t pairs, float* y) {
  kernels().vector->rotate_halves(x, cosine, sine, pairs, y);
}

void rotate_pairs(const float* x, const float* cosine, const float* sine, int64_t pairs, float* y) {
  kernels().vector->rotate_pairs(x, cosine, sine, pairs, y);
}

}  // namespace ortolan::cpu::kernels
