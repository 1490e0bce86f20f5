// What one instruction set provides for Fourier transforms. Internal to the kernels.
#pragma once

#include <cstdint>

namespace ortolan::cpu::kernels {

/** Complex numbers: their real and their imaginary parts. */
struct FourierPlanes {
  double *re, *im;
};

/**
 * A pass over radix * points rows of `run` numbers each (Stockham's order): of x the rows p, points + p, 2 * points + p
 * ... are transformed, and their results, turned, are the rows p * radix, p * radix + 1 ... of y, which is elsewhere.
 */
struct FourierPass {
  int64_t radix, points, run;
  FourierPlanes x, y;
  const double* turns;  // of each point radix - 1 complex numbers: e^(-2 pi i p u / (radix * points)), u from 1 on
  const double* roots;  // e^(-2 pi i j / radix), complex, j below radix; of 2, 3, 4 and 5 not read
};

struct FourierKernels {
  static constexpr int64_t kLargestRadix = 31;

  int lanes;  // doubles of a vector
  /** Points [begin, end), of each row the numbers [first, last). */
  void (*pass)(const FourierPass& pass, int64_t begin, int64_t end, int64_t first, int64_t last);
  /** y = x * factors: rows of `run` numbers, each times a complex number of its own. y may be x. */
  void (*turn)(int64_t rows, int64_t run, const FourierPlanes& x, const double* factors, const FourierPlanes& y);
  /**
   * Rows [begin, end) of the first half + 1 of a transform of real lines, from z, the transform of their values taken
   * as the parts of `half` complex ones: y[k] = (z[k] + z'[half - k]) / 2 + factors[k] * (z[k] - z'[half - k]) / 2,
   * where ' is the conjugate and z[half] is z[0].
   */
  void (*unfold)(int64_t half, int64_t begin, int64_t end, int64_t run, const FourierPlanes& z, const double* factors,
                 const FourierPlanes& y);
};

}  // namespace ortolan::cpu::kernels
