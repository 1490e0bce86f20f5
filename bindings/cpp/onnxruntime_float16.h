// 16-bit floating-point numbers: the conversions and tests that Ort::Float16_t and Ort::BFloat16_t are made of.
#pragma once

#include <cstdint>
#include <cstring>

namespace onnxruntime_float16 {

namespace detail {

inline std::uint32_t BitsOf(float value) noexcept {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

inline float FloatOf(std::uint32_t bits) noexcept {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

constexpr std::uint32_t kFloatInfinity = 0x7F800000u;

/** `bits` without the lowest `dropped` ones, rounded to the nearest, ties to even. `dropped` is 1 to 31. */
constexpr std::uint32_t RoundedShift(std::uint32_t bits, unsigned dropped) noexcept {
  const std::uint32_t half = (1u << (dropped - 1)) - 1 + ((bits >> dropped) & 1u);
  return (bits + half) >> dropped;
}

}  // namespace detail

/** What both formats have in common. `Derived` gives the constants of the format, all of them bits:
 *  kBiasedExponentMask, kPositiveInfinityBits and kNegativeInfinityBits. */
template <typename Derived>
struct Number16 {
  /** The number as it is stored. */
  std::uint16_t val{0};

  Number16() = default;

  constexpr bool IsNegative() const noexcept { return (val & kSignMask) != 0; }
  constexpr bool IsNaN() const noexcept { return AbsBits() > Derived::kPositiveInfinityBits; }
  constexpr bool IsFinite() const noexcept { return AbsBits() < Derived::kPositiveInfinityBits; }
  constexpr bool IsPositiveInfinity() const noexcept { return val == Derived::kPositiveInfinityBits; }
  constexpr bool IsNegativeInfinity() const noexcept { return val == Derived::kNegativeInfinityBits; }
  constexpr bool IsInfinity() const noexcept { return AbsBits() == Derived::kPositiveInfinityBits; }
  constexpr bool IsNaNOrZero() const noexcept { return AbsBits() == 0 || IsNaN(); }
  /** Finite, neither zero nor subnormal. */
  constexpr bool IsNormal() const noexcept { return IsFinite() && (val & Derived::kBiasedExponentMask) != 0; }
  constexpr bool IsSubnormal() const noexcept { return AbsBits() != 0 && (val & Derived::kBiasedExponentMask) == 0; }

  constexpr Derived Abs() const noexcept { return Derived::FromBits(AbsBits()); }
  /** The number with the other sign; NaN stays as it is. */
  constexpr Derived Negate() const noexcept {
    return Derived::FromBits(IsNaN() ? val : static_cast<std::uint16_t>(val ^ kSignMask));
  }

  /** Whether both are zero, of either sign. */
  static constexpr bool AreZero(const Number16& lhs, const Number16& rhs) noexcept {
    return ((lhs.val | rhs.val) & ~kSignMask & 0xFFFF) == 0;
  }

  /** As numbers compare: NaN equals nothing, and both zeros are equal. */
  friend constexpr bool operator==(const Derived& lhs, const Derived& rhs) noexcept {
    return !lhs.IsNaN() && !rhs.IsNaN() && (lhs.val == rhs.val || AreZero(lhs, rhs));
  }
  friend constexpr bool operator!=(const Derived& lhs, const Derived& rhs) noexcept { return !(lhs == rhs); }
  friend constexpr bool operator<(const Derived& lhs, const Derived& rhs) noexcept {
    return !lhs.IsNaN() && !rhs.IsNaN() && lhs.Ordered() < rhs.Ordered();
  }

  static constexpr std::uint16_t kSignMask = 0x8000;

 private:
  constexpr std::uint16_t AbsBits() const noexcept { return static_cast<std::uint16_t>(val & ~kSignMask); }

  /** A whole number that rises with the number; both zeros give 0. */
  constexpr int Ordered() const noexcept { return IsNegative() ? -static_cast<int>(AbsBits()) : AbsBits(); }
};

/** IEEE 754 half precision: 1 sign, 5 exponent and 10 fraction bits. `Derived` has a static FromBits(uint16_t). */
template <typename Derived>
struct Float16Impl : Number16<Derived> {
  Float16Impl() = default;

  static constexpr std::uint16_t kBiasedExponentMask = 0x7C00;
  static constexpr std::uint16_t kPositiveInfinityBits = 0x7C00;
  static constexpr std::uint16_t kNegativeInfinityBits = 0xFC00;
  static constexpr std::uint16_t kPositiveQNaNBits = 0x7E00;
  static constexpr std::uint16_t kNegativeQNaNBits = 0xFE00;
  static constexpr std::uint16_t kMinValueBits = 0xFBFF;
  static constexpr std::uint16_t kMaxValueBits = 0x7BFF;
  static constexpr std::uint16_t kOneBits = 0x3C00;
  static constexpr std::uint16_t kMinusOneBits = 0xBC00;
  /** The smallest number above 0 and the distance from 1 to the next. */
  static constexpr std::uint16_t kSmallestBits = 0x0001;
  static constexpr std::uint16_t kEpsilonBits = 0x1400;

  /** The bits of the nearest half, ties to even; too large numbers give infinity, NaN stays NaN. */
  static std::uint16_t ToUint16Impl(float value) noexcept {
    const std::uint32_t bits = detail::BitsOf(value);
    const std::uint32_t sign = (bits >> 16) & 0x8000u;
    const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
    return static_cast<std::uint16_t>(sign | MagnitudeBits(magnitude));
  }

  float ToFloatImpl() const noexcept {
    const std::uint32_t sign = static_cast<std::uint32_t>(this->val & 0x8000u) << 16;
    const std::uint32_t exponent = (this->val >> 10) & 0x1Fu;
    const std::uint32_t fraction = this->val & 0x3FFu;
    if (exponent == 0x1Fu) return detail::FloatOf(sign | detail::kFloatInfinity | (fraction << 13));
    if (exponent != 0) return detail::FloatOf(sign | ((exponent + 112u) << 23) | (fraction << 13));
    const float magnitude = static_cast<float>(fraction) * 5.9604644775390625e-8f;  // 2 to the -24
    return sign != 0 ? -magnitude : magnitude;
  }

 private:
  static std::uint32_t MagnitudeBits(std::uint32_t magnitude) noexcept {
    constexpr std::uint32_t smallest_normal = 113u << 23, too_large = 143u << 23;
    if (magnitude > detail::kFloatInfinity) return kPositiveQNaNBits | ((magnitude >> 13) & 0x3FFu);
    if (magnitude >= too_large) return kPositiveInfinityBits;
    if (magnitude >= smallest_normal) return detail::RoundedShift(magnitude - (112u << 23), 13);
    const std::uint32_t shift = 126u - (magnitude >> 23);  // of the fraction, with its leading 1, to units of 2^-24
    return shift > 24 ? 0 : detail::RoundedShift((magnitude & 0x7FFFFFu) | 0x800000u, shift);
  }
};

/** The upper half of a float: 1 sign, 8 exponent and 7 fraction bits. `Derived` has a static FromBits(uint16_t). */
template <typename Derived>
struct BFloat16Impl : Number16<Derived> {
  BFloat16Impl() = default;

  static constexpr std::uint16_t kBiasedExponentMask = 0x7F80;
  static constexpr std::uint16_t kPositiveInfinityBits = 0x7F80;
  static constexpr std::uint16_t kNegativeInfinityBits = 0xFF80;
  static constexpr std::uint16_t kPositiveQNaNBits = 0x7FC1;
  static constexpr std::uint16_t kNegativeQNaNBits = 0xFFC1;
  static constexpr std::uint16_t kMinValueBits = 0xFF7F;
  static constexpr std::uint16_t kMaxValueBits = 0x7F7F;
  static constexpr std::uint16_t kRoundToNearest = 0x7FFF;
  static constexpr std::uint16_t kOneBits = 0x3F80;
  static constexpr std::uint16_t kMinusOneBits = 0xBF80;
  static constexpr std::uint16_t kEpsilonBits = 0x3C00;

  /** The bits of the nearest bfloat16, ties to even; too large numbers give infinity, NaN stays NaN. */
  static std::uint16_t ToUint16Impl(float value) noexcept {
    const std::uint32_t bits = detail::BitsOf(value);
    const bool is_nan = (bits & 0x7FFFFFFFu) > detail::kFloatInfinity;
    if (is_nan) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
    return static_cast<std::uint16_t>(detail::RoundedShift(bits, 16));
  }

  float ToFloatImpl() const noexcept { return detail::FloatOf(static_cast<std::uint32_t>(this->val) << 16); }
};

}  // namespace onnxruntime_float16
