// The test device's 16-bit arithmetic: every result is the nearest number there is.
#include "gpu/testdevice/half_arithmetic.h"

#include <gtest/gtest.h>

#include <random>

namespace ortolan::gpu::test {
namespace {

/** The number of 16 bits that is nearest, of two the even one; by looking at the two beside. */
float nearest(long double exact) {
  uint16_t bits = 0;  // the largest that is not above its magnitude, infinity counting as 65536
  for (int bit = 14; bit >= 0; bit--) {
    uint16_t more = static_cast<uint16_t>(bits | 1 << bit);
    if (more <= 0x7c00 && (more == 0x7c00 ? 65536.0L : from_half(more)) <= std::fabs(exact)) bits = more;
  }
  if (bits < 0x7c00) {
    long double below = from_half(bits), above = bits == 0x7bff ? 65536.0L : from_half(bits + 1);
    long double middle = (below + above) / 2;
    if (std::fabs(exact) > middle || (std::fabs(exact) == middle && bits % 2 == 1)) bits++;
  }
  return std::copysign(from_half(bits), static_cast<float>(exact));
}

TEST(HalfArithmetic, RoundsOnce) {
  std::mt19937 random(7);
  for (int i = 0; i < 200000; i++) {
    auto draw = [&] { return hs{from_half(static_cast<uint16_t>(random() % 0x7c00 | random() % 2 << 15))}; };
    hs a = draw(), b = draw(), c = draw();
    long double exact = static_cast<long double>(a.value) * b.value + static_cast<long double>(c.value);
    if (exact != 0) {
      ASSERT_EQ(fused(a, b, c).value, nearest(exact)) << a.value << " * " << b.value << " + " << c.value;
    }
  }
}

// A sum that a float would round to a tie.
TEST(HalfArithmetic, WhatIsCutOffDecidesTies) {
  EXPECT_EQ(rounded_to_half(1 + 0x1p-11).value, 1);
  EXPECT_EQ(rounded_to_half(1 + 0x1p-11 + 0x1p-40).value, 1 + 0x1p-10f);
  EXPECT_EQ(rounded_to_half(-1 - 0x1p-11 - 0x1p-40).value, -1 - 0x1p-10f);
  EXPECT_EQ(rounded_to_half(1 + 0x1p-10 + 0x1p-11 - 0x1p-40).value, 1 + 0x1p-10f);
  EXPECT_EQ(rounded_to_half(65519.999999).value, 65504);
}

TEST(HalfArithmetic, LargeNumbersAndNaN) {
  EXPECT_EQ(fused({300}, {300}, {0}).value, INFINITY);
  EXPECT_EQ(fused({-65504}, {1}, {-32}).value, -INFINITY);
  EXPECT_TRUE(std::isnan(fused({INFINITY}, {1}, {-INFINITY}).value));
  EXPECT_TRUE(std::isnan(fused({0}, {NAN}, {1}).value));
}

}  // namespace
}  // namespace ortolan::gpu::test
