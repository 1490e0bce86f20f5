// What the work of kernels costs one core, in nanoseconds, for dividing it among threads; within a factor of two.
#pragma once

namespace ortolan::cpu::kernels {

constexpr double kByteNs = 0.04;  // reading what is not in the nearest caches

/** A multiplication and addition of floats in vectors of so many. */
constexpr double multiply_ns(int lanes) { return 0.18 / lanes; }

/** Copying an element of a matrix to where kernels read it. */
constexpr double kPackNs = 0.2;

}  // namespace ortolan::cpu::kernels
