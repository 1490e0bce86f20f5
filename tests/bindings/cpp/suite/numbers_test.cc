// Ort::Float16_t, Ort::BFloat16_t and the 8-bit formats.
#include <cmath>
#include <limits>

#include "support.h"

using Ort::BFloat16_t;
using Ort::Float16_t;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The value of a half by its definition.
double half_value(uint16_t bits) {
  const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * kInfinity;
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
}

TEST(Float16, EveryNumberConvertsExactlyThereAndBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = Float16_t::FromBits(static_cast<uint16_t>(bits));
    const double expected = half_value(half.val);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(half.ToFloat()) && half.IsNaN() && Float16_t(half.ToFloat()).IsNaN()) << bits;
      continue;
    }
    ASSERT_EQ(static_cast<double>(static_cast<float>(half)), expected) << bits;
    ASSERT_EQ(Float16_t(half.ToFloat()).val, bits);
  }
}

TEST(Float16, RoundsToTheNearestAndTiesToEven) {
  for (uint32_t bits = 0; bits < 0x7BFF; ++bits) {
    const double low = half_value(static_cast<uint16_t>(bits)), high = half_value(static_cast<uint16_t>(bits + 1));
    const float middle = static_cast<float>((low + high) / 2);
    const uint32_t even = bits % 2 == 0 ? bits : bits + 1;
    ASSERT_EQ(Float16_t(middle).val, even);
    ASSERT_EQ(Float16_t(std::nextafter(middle, 0.0f)).val, bits);
    ASSERT_EQ(Float16_t(-std::nextafter(middle, kInfinity)).val, (bits + 1) | 0x8000u);
  }
  EXPECT_EQ(Float16_t(65519.0f).val, Float16_t::kMaxValueBits);
  EXPECT_TRUE(Float16_t(65520.0f).IsPositiveInfinity());
  EXPECT_TRUE(Float16_t(-1e30f).IsNegativeInfinity());
  EXPECT_EQ(Float16_t(std::ldexp(1.0f, -26)).val, 0);
}

template <typename Number>
void expect_kinds_and_order() {
  const Number zero(0.0f), minus_zero(-0.0f), one(1.0f), nan(std::nanf("")), infinite(kInfinity);
  EXPECT_TRUE(zero == minus_zero && !(zero != minus_zero) && !(zero < minus_zero) && !(minus_zero < zero));
  EXPECT_TRUE(Number::AreZero(zero, minus_zero) && !Number::AreZero(zero, one));
  EXPECT_TRUE(nan != nan && !(nan == nan) && !(nan < one) && !(one < nan));
  EXPECT_TRUE(Number(-2.0f) < Number(-1.0f) && Number(-1.0f) < zero && zero < one && one < infinite);
  EXPECT_TRUE(one.IsNormal() && !one.IsSubnormal() && one.IsFinite() && !one.IsNegative() && one.Negate().IsNegative());
  EXPECT_TRUE(infinite.IsInfinity() && infinite.Negate().IsNegativeInfinity() && !infinite.IsFinite());
  EXPECT_TRUE(nan.IsNaNOrZero() && minus_zero.IsNaNOrZero() && !one.IsNaNOrZero());
  EXPECT_EQ(one.Negate().Abs(), one);
  EXPECT_EQ(nan.Negate().val, nan.val);
  EXPECT_TRUE(Number::FromBits(1).IsSubnormal());
  EXPECT_EQ(Number().val, 0);
  EXPECT_EQ(one.val, Number::kOneBits);
  EXPECT_EQ(Number(-1.0f).val, Number::kMinusOneBits);
}

TEST(Float16, KindsAndOrder) { expect_kinds_and_order<Float16_t>(); }
TEST(BFloat16, KindsAndOrder) { expect_kinds_and_order<BFloat16_t>(); }

TEST(BFloat16, IsTheUpperHalfOfAFloatRounded) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto number = BFloat16_t::FromBits(static_cast<uint16_t>(bits));
    if (number.IsNaN()) {
      ASSERT_TRUE(std::isnan(number.ToFloat()) && BFloat16_t(number.ToFloat()).IsNaN());
    } else {
      ASSERT_EQ(BFloat16_t(static_cast<float>(number)).val, bits);
    }
  }
  EXPECT_EQ(BFloat16_t(1.00390625f).val, 0x3F80);  // half way between two: the even one
  EXPECT_EQ(BFloat16_t(1.01171875f).val, 0x3F82);
  EXPECT_TRUE(BFloat16_t(std::numeric_limits<float>::max()).IsInfinity());
}

TEST(Float8, AreBytes) {
  const Ort::Float8E4M3FN_t a(0x38), b;
  EXPECT_TRUE(a != b && a == Ort::Float8E4M3FN_t(0x38));
  EXPECT_EQ(static_cast<uint8_t>(a), 0x38);
  EXPECT_EQ(Ort::Float8E5M2_t(7).value + Ort::Float8E5M2FNUZ_t(1).value + Ort::Float8E4M3FNUZ_t(2).value, 10);
}

static_assert(Ort::TypeToTensorType<float>::type == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT);
static_assert(Ort::TypeToTensorType<Float16_t>::type == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16);
static_assert(Ort::TypeToTensorType<BFloat16_t>::type == ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16);
static_assert(Ort::TypeToTensorType<Ort::Float8E5M2FNUZ_t>::type == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2FNUZ);
static_assert(std::is_trivially_copyable_v<Float16_t> && std::is_standard_layout_v<Ort::Value>);

}  // namespace
