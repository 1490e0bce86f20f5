// Tests of span conversions: every half, rounding, saturation, NaN, on every instruction set.
#include "cpu/kernels/elementwise/convert.h"

#include <cstring>
#include <limits>

#include "isa_test.h"

namespace ortolan::cpu::kernels {
namespace {

class Convert : public IsaTest {};

double half_value(uint16_t h) {
  const int exponent = (h >> 10) & 31, mantissa = h & 1023;
  const double sign = h >> 15 ? -1 : 1;
  if (exponent == 31) return mantissa ? NAN : sign * HUGE_VAL;
  return sign * (exponent ? std::ldexp(1024 + mantissa, exponent - 25) : std::ldexp(mantissa, -24));
}

TEST_P(Convert, EveryHalfBothWays) {
  std::vector<uint16_t> halves(65536), back(65536);
  std::vector<float> floats(65536);
  for (int i = 0; i < 65536; ++i) halves[i] = static_cast<uint16_t>(i);
  half_to_float(halves.data(), floats.data(), 65536);
  float_to_half(floats.data(), back.data(), 65536);
  for (int i = 0; i < 65536; ++i) {
    const double want = half_value(halves[i]);
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(floats[i]));
      ASSERT_TRUE(std::isnan(half_value(back[i])));
    } else {
      ASSERT_EQ(floats[i], want) << i;
      ASSERT_EQ(back[i], halves[i]) << i;
    }
  }
}

TEST_P(Convert, HalvesRoundToEven) {
  for (int i = 0; i < 31743; ++i) {
    const uint16_t low = static_cast<uint16_t>(i), high = static_cast<uint16_t>(i + 1);
    const double middle = i == 31742 ? 65520.0 - 16 : (half_value(low) + half_value(high)) / 2;
    float x[19] = {};
    uint16_t y[19];
    x[0] = x[18] = static_cast<float>(middle);
    x[1] = std::nextafter(x[0], 0.0f);
    x[2] = std::nextafter(x[0], 1e9f);
    if (i == 31742) continue;
    float_to_half(x, y, 19);
    ASSERT_EQ(y[0], i % 2 ? high : low) << i;
    ASSERT_EQ(y[18], y[0]);
    ASSERT_EQ(y[1], low);
    ASSERT_EQ(y[2], high);
  }
  const float big[] = {65519, 65520, 1e10f, -1e10f};
  uint16_t y[4];
  float_to_half(big, y, 4);
  EXPECT_EQ(y[0], 0x7bff);
  EXPECT_EQ(y[1], 0x7c00);
  EXPECT_EQ(y[2], 0x7c00);
  EXPECT_EQ(y[3], 0xfc00);
}

TEST_P(Convert, Bfloat16) {
  const float x[] = {1, 1.00390625f, 1.01171875f, -2, INFINITY, NAN, 3.4e38f};
  uint16_t y[7];
  float back[7];
  float_to_bfloat16(x, y, 7);
  bfloat16_to_float(y, back, 7);
  EXPECT_EQ(back[0], 1);
  EXPECT_EQ(back[1], 1);          // halfway, to even
  EXPECT_EQ(back[2], 1.015625f);  // halfway, to even
  EXPECT_EQ(back[3], -2);
  EXPECT_EQ(back[4], INFINITY);
  EXPECT_TRUE(std::isnan(back[5]));
  EXPECT_EQ(back[6], INFINITY);
}

TEST_P(Convert, FloatsOfAnyAddress) {
  const float x[] = {1, -2, 0.5f, 3, 4, 5, 6, 7, 8};
  std::vector<char> bytes(sizeof x + 2);
  std::memcpy(bytes.data() + 2, x, sizeof x);
  const auto* unaligned = reinterpret_cast<const float*>(bytes.data() + 2);
  uint16_t want[9], got[9];
  float_to_bfloat16(x, want, 9);
  float_to_bfloat16(unaligned, got, 9);
  EXPECT_EQ(std::memcmp(got, want, sizeof got), 0);
  float_to_half(x, want, 9);
  float_to_half(unaligned, got, 9);
  EXPECT_EQ(std::memcmp(got, want, sizeof got), 0);
  quantize(x, 9, 0.5f, 3, want);
  quantize(unaligned, 9, 0.5f, 3, got);
  EXPECT_EQ(std::memcmp(got, want, sizeof got), 0);
}

template <class T>
void expect_quantized(const std::vector<float>& x, float scale, int32_t zero_point) {
  std::vector<T> y(x.size());
  std::vector<float> back(x.size());
  quantize(x.data(), static_cast<int64_t>(x.size()), scale, zero_point, y.data());
  dequantize(y.data(), static_cast<int64_t>(x.size()), scale, zero_point, back.data());
  const double low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
  for (size_t i = 0; i < x.size(); ++i) {
    const double rounded = std::nearbyint(x[i] / scale) + zero_point;
    ASSERT_EQ(double(y[i]), std::isnan(rounded) ? low : std::min(high, std::max(low, rounded))) << x[i];
    ASSERT_EQ(back[i], (float(y[i]) - float(zero_point)) * scale);
  }
}

TEST_P(Convert, QuantizesWithSaturationAndHalvesToEven) {
  std::vector<float> x = normal(1003, 30);
  for (float v : {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 1e9f, -1e9f, 1e20f, INFINITY, -INFINITY, NAN, 127.5f, 255.5f}) {
    x.push_back(v);
    x[x.size() % 64] = v;  // where whole vectors are taken, too
  }
  for (float scale : {1.0f, 0.37f}) {
    expect_quantized<uint8_t>(x, scale, 128);
    expect_quantized<int8_t>(x, scale, -3);
    expect_quantized<uint16_t>(x, scale, 40000);
    expect_quantized<int16_t>(x, scale, 7);
  }
}

TEST_P(Convert, MinMaxIncludesZero) {
  for (int64_t n : {0, 1, 16, 37, 64, 200}) {
    std::vector<float> x = normal(n);
    float low = 0, high = 0, got_low, got_high;
    for (float v : x) low = std::min(low, v), high = std::max(high, v);
    min_max(x.data(), n, &got_low, &got_high);
    EXPECT_EQ(got_low, low);
    EXPECT_EQ(got_high, high);
  }
}

ORTOLAN_FOR_EACH_ISA(Convert);

}  // namespace
}  // namespace ortolan::cpu::kernels
