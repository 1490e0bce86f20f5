// Conversions of the 8-bit and 4-bit floating-point types.
#include "base/small_float.h"

#include <cmath>
#include <limits>

namespace ortolan::base {
namespace {

int total_bits(const NarrowFormat& f) { return 1 + f.exponent + f.mantissa; }
uint8_t sign_bit(const NarrowFormat& f) { return static_cast<uint8_t>(1u << (total_bits(f) - 1)); }

uint8_t nan_code(const NarrowFormat& f) {
  switch (f.specials) {
    case FloatSpecials::kIeee:
    case FloatSpecials::kNanOnly:
      return static_cast<uint8_t>(sign_bit(f) - 1);
    case FloatSpecials::kUnsignedZero:
      return sign_bit(f);
    case FloatSpecials::kFinite:
      break;
  }
  return static_cast<uint8_t>(sign_bit(f) - 1);
}

uint8_t largest_code(const NarrowFormat& f) {
  auto all_ones = static_cast<uint8_t>(sign_bit(f) - 1);
  if (f.specials == FloatSpecials::kIeee) return static_cast<uint8_t>(all_ones & ~((1u << f.mantissa) - 1)) - 1;
  return f.specials == FloatSpecials::kNanOnly ? all_ones - 1 : all_ones;
}

/** The code for a magnitude beyond the largest finite value. */
uint8_t overflow_code(const NarrowFormat& f, bool saturate) {
  if (saturate || f.specials == FloatSpecials::kFinite) return largest_code(f);
  return f.specials == FloatSpecials::kIeee ? static_cast<uint8_t>(largest_code(f) + 1) : nan_code(f);
}

}  // namespace

float narrow_to_float(uint8_t bits, const NarrowFormat& f) {
  bool negative = (bits & sign_bit(f)) != 0;
  auto magnitude = static_cast<uint8_t>(bits & (sign_bit(f) - 1));
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  if (f.specials == FloatSpecials::kUnsignedZero && bits == sign_bit(f)) return kNan;
  if (f.specials == FloatSpecials::kNanOnly && magnitude == nan_code(f)) return kNan;
  if (f.specials == FloatSpecials::kIeee && magnitude > largest_code(f)) {
    bool infinite = magnitude == largest_code(f) + 1;
    float value = infinite ? std::numeric_limits<float>::infinity() : kNan;
    return negative ? -value : value;
  }
  int exponent = magnitude >> f.mantissa;
  int mantissa = magnitude & ((1 << f.mantissa) - 1);
  float value = exponent == 0
                    ? std::ldexp(static_cast<float>(mantissa), 1 - f.bias - f.mantissa)
                    : std::ldexp(static_cast<float>(mantissa + (1 << f.mantissa)), exponent - f.bias - f.mantissa);
  return negative ? -value : value;
}

uint8_t float_to_narrow(float value, const NarrowFormat& f, bool saturate) {
  bool unsigned_zero = f.specials == FloatSpecials::kUnsignedZero;
  uint8_t sign = std::signbit(value) ? sign_bit(f) : 0;
  if (std::isnan(value)) {
    if (f.specials == FloatSpecials::kFinite) return 0;
    return unsigned_zero ? nan_code(f) : static_cast<uint8_t>(sign | nan_code(f));
  }
  auto with_sign = [&](uint8_t code) -> uint8_t {
    if (unsigned_zero && (code == 0 || code == nan_code(f))) return code;
    return static_cast<uint8_t>(sign | code);
  };
  float magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return with_sign(overflow_code(f, saturate));
  int exponent = 0;
  std::frexp(magnitude, &exponent);  // magnitude = m * 2^exponent, m in [0.5, 1)
  int biased = magnitude == 0 ? 0 : exponent - 1 + f.bias;
  int unit = (biased < 1 ? 1 : biased) - f.bias - f.mantissa;  // exponent of one unit in the last place
  auto units = static_cast<uint64_t>(std::nearbyint(std::ldexp(static_cast<double>(magnitude), -unit)));
  uint64_t code = biased < 1 ? units : units + (static_cast<uint64_t>(biased - 1) << f.mantissa);
  return with_sign(code > largest_code(f) ? overflow_code(f, saturate) : static_cast<uint8_t>(code));
}

Float8E8M0::Float8E8M0(float value) {
  uint32_t word = std::bit_cast<uint32_t>(value) & 0x7fffffffu;
  uint32_t exponent = word >> 23;
  bool round_up = (word & 0x7fffffu) != 0 && exponent < 254;
  bits = static_cast<uint8_t>(exponent + (round_up ? 1 : 0));
}

Float8E8M0::operator float() const {
  if (bits == 0xff) return std::numeric_limits<float>::quiet_NaN();
  return std::ldexp(1.0f, static_cast<int>(bits) - 127);
}

}  // namespace ortolan::base
