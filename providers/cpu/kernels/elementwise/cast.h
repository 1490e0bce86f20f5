// Casts of contiguous spans between number types, and the classification of floats. One thread.
#pragma once

#include "cpu/kernels/elementwise/number.h"

namespace ortolan::cpu::kernels {

/**
 * y[i] = x[i] as a number of type `to`. Floats to integers drop the fraction; integers that do not fit wrap around;
 * floats beyond int64 count as its lowest value, those beyond int32 give its lowest value, and so does NaN; uint64
 * takes floats up to its own limit. To bool: 1 where x[i] is not 0. The spans do not overlap.
 */
void cast(Number from, const void* x, int64_t n, Number to, void* y);

template <class From, class To>
void cast(const From* x, int64_t n, To* y) {
  cast(number_of<From>(), x, n, number_of<To>(), y);
}

/** Inexact results get an odd last bit, so that they round to narrower floats as x itself does; what is beyond fp32
    becomes infinite. */
void round_to_odd(const double* x, int64_t n, float* y);

/** Which floats are looked for. */
struct FloatClass {
  bool nan = false;
  bool positive_infinity = false;
  bool negative_infinity = false;
};

/** y[i] = 1 where the float with the bits x[i] is of the class, else 0. `infinity` is the code of +inf. Bits: uint16_t,
    uint32_t, uint64_t. */
template <class Bits>
void classify(const Bits* x, int64_t n, Bits infinity, const FloatClass& wanted, uint8_t* y);

}  // namespace ortolan::cpu::kernels
