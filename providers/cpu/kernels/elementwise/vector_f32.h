// Elementwise functions over contiguous fp32 spans. One thread: callers split spans and share them out.
#pragma once

#include <cstdint>

#include "cpu/kernels/elementwise/activation.h"

namespace ortolan::cpu::kernels {

/** y[i] = op(x[i]); x and y are the same span or do not overlap. Within a few units in the last place. */
void unary(Activation op, const float* x, float* y, int64_t n);

enum class BinaryOp : uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMin,  // NaN where either is NaN, as numpy.minimum
  kMax,
  kPRelu,  // a < 0 ? a*b : a
  kPow,
  kCount
};

/** y[i] = a[i] op b[i]; y may be a or b. */
void binary(BinaryOp op, const float* a, const float* b, float* y, int64_t n);
/** y[i] = a[i] op b. */
void binary(BinaryOp op, const float* a, float b, float* y, int64_t n);
/** y[i] = a op b[i]. */
void binary(BinaryOp op, float a, const float* b, float* y, int64_t n);

/** y[i] = a*x[i] + b; y may be x. */
void scale_shift(const float* x, float a, float b, float* y, int64_t n);
/** y[i] += a*x[i]. */
void accumulate_scaled(const float* x, float a, float* y, int64_t n);
/** y[i] = a[i]*b[i] + c[i]; y may be any of them. */
void multiply_add(const float* a, const float* b, const float* c, float* y, int64_t n);

/** Turns each pair (x[i], x[pairs + i]) by the angle with that cosine[i] and sine[i]; y may be x. */
void rotate_halves(const float* x, const float* cosine, const float* sine, int64_t pairs, float* y);
/** The same for the pairs (x[2*i], x[2*i + 1]). */
void rotate_pairs(const float* x, const float* cosine, const float* sine, int64_t pairs, float* y);

}  // namespace ortolan::cpu::kernels
