// 16-bit arithmetic in software, each step rounded once as devices do it.
#pragma once

#include "gpu/device/half_float.h"

namespace ortolan::gpu::test {

/** A 16-bit float, by its value. */
struct hs {
  float value;
};

/** To nearest, ties to even. */
inline hs rounded_to_half(double value) {
  // Through a float whose last bit notes what was cut off: two roundings that are as one.
  float cut = static_cast<float>(value);
  if (std::isfinite(value) && cut != value) {
    if (std::fabs(cut) > std::fabs(value)) cut = std::nextafter(cut, 0.0f);
    cut = std::bit_cast<float>(std::bit_cast<uint32_t>(cut) | 1u);
  }
  return {from_half(to_half(cut))};
}

/** a b + c. The product of two is exact in double; where their sum is not, it is far from a tie. */
inline hs fused(hs a, hs b, hs c) {
  return rounded_to_half(static_cast<double>(a.value) * b.value + static_cast<double>(c.value));
}

}  // namespace ortolan::gpu::test
