// Where the kernels of the test device register themselves, and 16-bit floats in software.
#include "gpu/testdevice/registry.h"

#include <cmath>
#include <cstring>

#include "gpu/testdevice/dialect.h"

namespace ortolan::gpu::test {

std::map<std::string, KernelDescription, std::less<>>& kernels_of_width(int width) {
  static auto* by_width = new std::map<int, std::map<std::string, KernelDescription, std::less<>>>;
  return (*by_width)[width];
}

const KernelDescription* find_kernel(std::string_view name, int width) {
  for (int compiled_for : {width, 0}) {
    auto& kernels = kernels_of_width(compiled_for);
    auto found = kernels.find(name);
    if (found != kernels.end()) return &found->second;
  }
  return nullptr;
}

float half_to_float(uint half) {
  uint exponent = half >> 10 & 31, mantissa = half & 1023;
  float value = exponent == 31  ? (mantissa != 0 ? NAN : INFINITY)
                : exponent != 0 ? std::ldexp(static_cast<float>(mantissa + 1024), static_cast<int>(exponent) - 25)
                                : std::ldexp(static_cast<float>(mantissa), -24);
  return (half & 0x8000) != 0 ? -value : value;
}

uint float_to_half(float value) {
  uint bits = bits_of<uint>(value), sign = bits >> 16 & 0x8000;
  bits &= 0x7fffffff;
  if (bits > 0x7f800000) return sign | 0x7e00;
  if (bits >= 0x477ff000) return sign | 0x7c00;
  if (bits < 0x38800000) return sign | static_cast<uint>(std::nearbyint(std::ldexp(bits_of<float>(bits), 24)));
  return sign | ((bits - 0x38000000 + 0xfff + (bits >> 13 & 1)) >> 13);
}

}  // namespace ortolan::gpu::test
