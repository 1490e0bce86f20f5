// 16-bit floats in software.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace ortolan::gpu {

inline float from_half(uint16_t half) {
  int exponent = half >> 10 & 31, mantissa = half & 1023;
  float value = exponent == 31  ? (mantissa != 0 ? NAN : INFINITY)
                : exponent != 0 ? std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25)
                                : std::ldexp(static_cast<float>(mantissa), -24);
  return (half & 0x8000) != 0 ? -value : value;
}

/** Rounds to nearest, ties to even. */
inline uint16_t to_half(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value), sign = bits >> 16 & 0x8000;
  bits &= 0x7fffffff;
  if (bits > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00);
  if (bits >= 0x477ff000) return static_cast<uint16_t>(sign | 0x7c00);
  if (bits < 0x38800000) {
    return static_cast<uint16_t>(sign |
                                 static_cast<uint32_t>(std::nearbyint(std::ldexp(std::bit_cast<float>(bits), 24))));
  }
  return static_cast<uint16_t>(sign | ((bits - 0x38000000 + 0xfff + (bits >> 13 & 1)) >> 13));
}

}  // namespace ortolan::gpu
