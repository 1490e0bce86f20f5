// One row of loops for each vector function of two arguments.
#include "cpu/elements/float_loops.h"

#include <cmath>

namespace ortolan::cpu {
namespace {
using kernels::BinaryOp;

template <BinaryOp kOp>
void vectors(const void* a, const void* b, void* y, int64_t count) {
  kernels::binary(kOp, static_cast<const float*>(a), static_cast<const float*>(b), static_cast<float*>(y), count);
}
template <BinaryOp kOp>
void scalar_a(const void* a, const void* b, void* y, int64_t count) {
  kernels::binary(kOp, *static_cast<const float*>(a), static_cast<const float*>(b), static_cast<float*>(y), count);
}
template <BinaryOp kOp>
void scalar_b(const void* a, const void* b, void* y, int64_t count) {
  kernels::binary(kOp, static_cast<const float*>(a), *static_cast<const float*>(b), static_cast<float*>(y), count);
}

/** pow(x, 1/2): the square root, but +inf of -inf, and 0 of -0. */
void square_root(const float* x, float* y, int64_t count) {
  int infinite = 0;
  for (int64_t i = 0; i < count; ++i) infinite |= x[i] == -INFINITY;
  if (infinite) {
    for (int64_t i = 0; i < count; ++i) y[i] = x[i] == -INFINITY ? INFINITY : std::sqrt(x[i]) + 0.0f;
    return;
  }
  kernels::unary({kernels::UnaryOp::kSqrt}, x, y, count);
  kernels::binary(BinaryOp::kAdd, y, 0.0f, y, count);
}

/** Squares, square roots and the like, which models use most, are worth their own loops. */
void scalar_exponent(const void* a, const void* b, void* y, int64_t count) {
  auto* x = static_cast<const float*>(a);
  auto* to = static_cast<float*>(y);
  const float exponent = *static_cast<const float*>(b);
  if (exponent == 2) return kernels::binary(BinaryOp::kMul, x, x, to, count);
  if (exponent == 1) return kernels::unary({kernels::UnaryOp::kIdentity}, x, to, count);
  if (exponent == -1) return kernels::unary({kernels::UnaryOp::kReciprocal}, x, to, count);
  if (exponent == 0.5f) return square_root(x, to, count);
  if (exponent == 3) {
    for (int64_t i = 0; i < count; ++i) to[i] = x[i] * x[i] * x[i];
    return;
  }
  kernels::binary(BinaryOp::kPow, x, exponent, to, count);
}

template <BinaryOp kOp>
constexpr BinaryLoops loops() {
  return {vectors<kOp>, scalar_a<kOp>, scalar_b<kOp>};
}

constexpr BinaryLoops kLoops[] = {
    loops<BinaryOp::kAdd>(),   loops<BinaryOp::kSub>(),
    loops<BinaryOp::kMul>(),   loops<BinaryOp::kDiv>(),
    loops<BinaryOp::kMin>(),   loops<BinaryOp::kMax>(),
    loops<BinaryOp::kPRelu>(), {vectors<BinaryOp::kPow>, scalar_a<BinaryOp::kPow>, scalar_exponent, 4096},
};
static_assert(std::size(kLoops) == static_cast<size_t>(BinaryOp::kCount));

}  // namespace

const BinaryLoops& float_loops(BinaryOp op) { return kLoops[static_cast<size_t>(op)]; }

}  // namespace ortolan::cpu
