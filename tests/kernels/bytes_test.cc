// Spans of bytes against plain arithmetic, on every instruction set.
#include "cpu/kernels/quantised/bytes.h"

#include <algorithm>

#include "isa_test.h"

namespace ortolan::cpu::kernels {
namespace {

class Bytes : public IsaTest {
 protected:
  std::vector<uint8_t> bytes(int64_t n) {
    std::vector<uint8_t> values(static_cast<size_t>(n));
    for (uint8_t& v : values) v = static_cast<uint8_t>(random_());
    return values;
  }
  static int value(uint8_t byte, bool is_signed) { return is_signed ? static_cast<int8_t>(byte) : byte; }

  void check_pair(const BytePair& pair, bool product, int64_t n) {
    const auto a = bytes(n), b = bytes(n);
    std::vector<uint8_t> y(static_cast<size_t>(n) + 1, 99);
    (product ? multiply_bytes : add_bytes)(pair, a.data(), b.data(), n, y.data());
    const double low = pair.is_signed ? -128 : 0;
    for (int64_t i = 0; i < n; ++i) {
      const double from_a = value(a[pair.scalar_a ? 0 : i], pair.is_signed) - pair.zero_a;
      const double from_b = value(b[pair.scalar_b ? 0 : i], pair.is_signed) - pair.zero_b;
      const double real = product ? pair.factor_a * from_a * from_b : pair.factor_a * from_a + pair.factor_b * from_b;
      const double wanted = std::clamp(real + pair.zero_y, low, low + 255);
      ASSERT_NEAR(value(y[i], pair.is_signed), wanted, 0.5001) << n << " at " << i;
    }
    ASSERT_EQ(y[n], 99);
  }
};
ORTOLAN_FOR_EACH_ISA(Bytes);

TEST_P(Bytes, Pairs) {
  for (int form = 0; form < 12; ++form) {
    BytePair pair{form % 5, -3, 10, 0.37f, 0.91f};
    pair.is_signed = form & 1, pair.scalar_a = form / 4 == 1, pair.scalar_b = form / 4 == 2;
    for (int64_t n : {1, 7, 8, 16, 17, 63, 64, 200}) check_pair(pair, form & 2, n);
  }
}

TEST_P(Bytes, Map) {
  const auto table = bytes(256);
  for (int64_t n : {0, 1, 7, 8, 63, 64, 65, 127, 1000}) {
    const auto x = bytes(n);
    std::vector<uint8_t> y(static_cast<size_t>(n) + 1, 99);
    map_bytes(table.data(), x.data(), n, y.data());
    for (int64_t i = 0; i < n; ++i) ASSERT_EQ(y[i], table[x[i]]);
    ASSERT_EQ(y[n], 99);
  }
}

TEST_P(Bytes, Sums) {
  for (bool is_signed : {false, true}) {
    for (int64_t n : {0, 1, 31, 32, 64, 65, 777}) {
      const auto x = bytes(n);
      int64_t total = 0;
      std::vector<int32_t> sums(static_cast<size_t>(n), 5);
      for (uint8_t byte : x) total += value(byte, is_signed);
      EXPECT_EQ(sum_bytes(x.data(), n, is_signed), total);
      accumulate_bytes(x.data(), n, is_signed, sums.data());
      for (int64_t i = 0; i < n; ++i) ASSERT_EQ(sums[i], 5 + value(x[i], is_signed));
    }
  }
}

TEST_P(Bytes, DotOfWords) {
  for (int64_t n : {0, 1, 15, 16, 33, 500}) {
    std::vector<int16_t> a(static_cast<size_t>(n), -32768), b(static_cast<size_t>(n), -32768);
    for (int64_t i = 2; i < n; ++i) a[i] = static_cast<int16_t>(random_()), b[i] = static_cast<int16_t>(random_());
    uint32_t sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += static_cast<uint32_t>(int32_t{a[i]} * int32_t{b[i]});
    EXPECT_EQ(static_cast<uint32_t>(dot_s16(a.data(), b.data(), n)), sum);
  }
}

}  // namespace
}  // namespace ortolan::cpu::kernels
