// Loops over contiguous elements of integer and fp64 types, and comparisons of fp32. One thread: callers split spans.
#pragma once

#include "cpu/kernels/elementwise/number.h"
#include "cpu/kernels/rows/reduce_f32.h"

namespace ortolan::cpu::kernels {

/** Integers wrap around. Min and max give NaN where either is NaN. Comparisons give bytes of 0 and 1. */
enum class NumberOp : uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,  // of int32, towards zero and not by 0, and of fp64
  kMin,
  kMax,
  kEqual,
  kGreater,
  kGreaterOrEqual,
  kCount
};

/** y[i] = a[i] op b[i], *a op b[i], a[i] op *b; y may be an input, element for element. */
struct NumberLoops {
  using Loop = void (*)(const void* a, const void* b, void* y, int64_t n);
  Loop vectors = nullptr;
  Loop scalar_a = nullptr;
  Loop scalar_b = nullptr;
};

/** The loops for operands of that type, of the instruction set in use; nullptrs where there are none. */
NumberLoops number_loops(NumberOp op, Number type);

/** Integers wrap around. */
enum class NumberUnary : uint8_t {
  kAbs,
  kNeg,
  kSign,
  kRelu,
  kLeakyRelu,  // x < 0 ? slope*x : x, of fp64
  kBitwiseNot,
  kSqrt,  // of fp64, as the next three
  kFloor,
  kCeil,
  kRound,  // halves to even
  kCount
};

/** y[i] = op(x[i]); y may be x. False, with nothing done, where there is no such loop. */
bool unary(NumberUnary op, Number type, const void* x, void* y, int64_t n, double slope = 0);

/** The reduction of a contiguous span, of n > 0 elements; sums of integers wrap around. T: double, int32_t, uint32_t,
    int64_t, uint64_t, int8_t, uint8_t. */
template <class T>
T reduce_numbers(ReduceOp op, const T* x, int64_t n);

/** The index of the first element equal to `value`, or n. T: as above, and float. */
template <class T>
int64_t find_first(T value, const T* x, int64_t n);

}  // namespace ortolan::cpu::kernels
