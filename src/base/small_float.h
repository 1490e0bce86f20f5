// The floating-point types narrower than float, as storage with conversions to and from float.
#pragma once

#include <bit>
#include <cstdint>

namespace ortolan::base {

#if defined(__aarch64__)
using BinaryHalf = __fp16;
#elif defined(__SSE2__) && !(defined(__clang__) && __clang_major__ < 15)
#define ORTOLAN_FLOAT16 1
using BinaryHalf = _Float16;
#endif

#if !defined(__aarch64__) && !defined(ORTOLAN_FLOAT16)
// These compilers have no type for it: the same conversions by hand.
inline uint16_t half_bits(float value) {
  const auto word = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((word >> 16) & 0x8000u);
  const uint32_t magnitude = word & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);
  // Below the least normal number, adding 0.5 rounds the value to the multiples that binary16 has there.
  if (magnitude < 0x38800000u) {
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
  }
  const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}
inline float half_value(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t magnitude = bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
  // 2^112 makes up for the difference of the exponents' biases, also for subnormal numbers.
  const float value = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(value));
}
#else
inline uint16_t half_bits(float value) { return std::bit_cast<uint16_t>(static_cast<BinaryHalf>(value)); }
inline float half_value(uint16_t bits) { return static_cast<float>(std::bit_cast<BinaryHalf>(bits)); }
#endif

/** IEEE binary16. Conversion from float rounds to nearest even. */
struct Half {
  uint16_t bits = 0;
  Half() = default;
  explicit Half(float value) : bits(half_bits(value)) {}
  explicit operator float() const { return half_value(bits); }
  static constexpr Half from_bits(uint16_t bits) {
    Half half;
    half.bits = bits;
    return half;
  }
};

/** The upper half of an IEEE binary32. Conversion from float rounds to nearest even; NaN stays NaN. */
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value) {
    uint32_t word = std::bit_cast<uint32_t>(value);
    bool nan = (word & 0x7fffffffu) > 0x7f800000u;
    bits = static_cast<uint16_t>(nan ? (word >> 16) | 0x40u : (word + 0x7fffu + ((word >> 16) & 1u)) >> 16);
  }
  explicit operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
  static constexpr BFloat16 from_bits(uint16_t bits) {
    BFloat16 value;
    value.bits = bits;
    return value;
  }
};

/** Which codes of an 8-bit or 4-bit float are special. */
enum class FloatSpecials {
  kIeee,          // infinities and NaNs as in IEEE 754 (E5M2)
  kNanOnly,       // all ones is NaN, no infinity (E4M3FN)
  kUnsignedZero,  // 0x80 is the only NaN, no infinity, no negative zero (…FNUZ)
  kFinite,        // neither NaN nor infinity (E2M1)
};

/** The format of a narrow float: sign, `exponent` bits, `mantissa` bits, exponent bias, specials. */
struct NarrowFormat {
  int exponent;
  int mantissa;
  int bias;
  FloatSpecials specials;
};

/** The float that `bits` stands for. */
float narrow_to_float(uint8_t bits, const NarrowFormat& format);
/** Rounds to nearest even. Values beyond the range become the largest finite one when `saturate`, else infinity or
    NaN, whichever the format has (E2M1 always saturates). */
uint8_t float_to_narrow(float value, const NarrowFormat& format, bool saturate);

/** One 8-bit (or, in a byte of its own, 4-bit) float type. */
template <int Exponent, int Mantissa, int Bias, FloatSpecials Specials>
struct NarrowFloat {
  static constexpr NarrowFormat kFormat{Exponent, Mantissa, Bias, Specials};
  uint8_t bits = 0;
  NarrowFloat() = default;
  explicit NarrowFloat(float value, bool saturate = true) : bits(float_to_narrow(value, kFormat, saturate)) {}
  explicit operator float() const { return narrow_to_float(bits, kFormat); }
};

using Float8E4M3FN = NarrowFloat<4, 3, 7, FloatSpecials::kNanOnly>;
using Float8E4M3FNUZ = NarrowFloat<4, 3, 8, FloatSpecials::kUnsignedZero>;
using Float8E5M2 = NarrowFloat<5, 2, 15, FloatSpecials::kIeee>;
using Float8E5M2FNUZ = NarrowFloat<5, 2, 16, FloatSpecials::kUnsignedZero>;
using Float4E2M1 = NarrowFloat<2, 1, 1, FloatSpecials::kFinite>;

/** A power of two, 2^(bits - 127); 0xff is NaN. Conversion from float rounds up to the next power as ONNX's default. */
struct Float8E8M0 {
  uint8_t bits = 0;
  Float8E8M0() = default;
  explicit Float8E8M0(float value);
  explicit operator float() const;
};

}  // namespace ortolan::base
