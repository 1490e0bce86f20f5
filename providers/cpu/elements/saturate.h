// Conversions from floating point to whole numbers that never leave the range of the result.
#pragma once

#include <cmath>
#include <limits>

namespace ortolan::cpu {

/** Cut toward zero; beyond the range the nearest end; NaN gives 0. */
template <class T, class F>
T saturate_cast(F value) {
  using Limits = std::numeric_limits<T>;
  if (!(value == value)) return T{0};
  if (value >= std::ldexp(F(1), Limits::digits)) return Limits::max();
  if (value <= static_cast<F>(Limits::min())) return Limits::min();
  return static_cast<T>(value);
}

}  // namespace ortolan::cpu
