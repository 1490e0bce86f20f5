// Tests of products with narrow weights against sums in double, on every instruction set.
#include "cpu/kernels/quantised/matmul_nbits.h"

#include <algorithm>
#include <cmath>

#include "base/threads/thread_pool.h"
#include "isa_test.h"

namespace ortolan::cpu::kernels {
namespace {

/** The matrix as N rows of K floats. */
void dequantize_nbits(const NBitsSource& s, float* out) {
  const int64_t blocks = s.blocks();
  const int per_byte = 8 / s.bits, mask = (1 << s.bits) - 1;
  for (int64_t n = 0; n < s.n; ++n) {
    for (int64_t k = 0; k < s.k; ++k) {
      const int64_t at = n * blocks + k / s.block;
      const int q = s.data[n * s.row_bytes + k / per_byte] >> (k % per_byte * s.bits) & mask;
      float zero = static_cast<float>(1 << (s.bits - 1));
      if (s.zeros != nullptr) zero = s.zeros[at];
      if (s.zero_values != nullptr) zero = s.zero_values[at];
      out[n * s.k + k] = (s.table != nullptr ? s.table[q] : static_cast<float>(q) - zero) * s.scales[at];
    }
  }
}

enum class Zeros { kNone, kBytes, kValues, kTable };

class NBits : public IsaTest {
 protected:
  struct Operand {
    NBitsSource source;
    std::vector<uint8_t> data, zeros;
    std::vector<float> scales, zero_values, table;
  };

  Operand operand(int bits, int64_t n, int64_t k, int64_t block, Zeros kind, int64_t extra) {
    Operand b;
    b.source = {bits, n, k, block};
    b.source.row_bytes = (k * bits + 7) / 8 + extra;
    const int64_t count = n * b.source.blocks();
    b.data.resize(n * b.source.row_bytes), b.zeros.resize(count);
    for (uint8_t& v : b.data) v = static_cast<uint8_t>(random_());
    for (uint8_t& v : b.zeros) v = static_cast<uint8_t>(random_() % (1u << bits));
    b.scales = normal(count), b.zero_values = normal(count, 3), b.table = normal(16);
    b.source.data = b.data.data(), b.source.scales = b.scales.data();
    if (kind == Zeros::kBytes) b.source.zeros = b.zeros.data();
    if (kind == Zeros::kValues) b.source.zero_values = b.zero_values.data();
    if (kind == Zeros::kTable) b.source.table = b.table.data();
    return b;
  }

  /** A as the product by bytes sees it. */
  static std::vector<float> rounded(std::vector<float> a, int64_t m, int64_t k, int64_t block) {
    for (int64_t r = 0; r < m; ++r) {
      for (int64_t first = 0; first < k; first += block) {
        float* x = a.data() + r * k + first;
        const int64_t count = std::min(block, k - first);
        float most = 0;
        for (int64_t i = 0; i < count; ++i) most = std::max(most, std::abs(x[i]));
        for (int64_t i = 0; i < count; ++i) x[i] = std::nearbyint(x[i] * (127 / most)) * (most / 127);
      }
    }
    return a;
  }

  void check(int bits, int64_t m, int64_t n, int64_t k, int64_t block, Zeros kind, bool bytes) {
    const Operand b = operand(bits, n, k, block, kind, integer(0, 3));
    const std::vector<float> a = normal(m * k), bias = normal(n);
    std::vector<float> weights(n * k), c(m * (n + 3), 77), one(m * (n + 3), 77);
    dequantize_nbits(b.source, weights.data());
    base::ThreadPool::Options options;
    options.threads = 2;
    static base::ThreadPool* pool = new base::ThreadPool(options);
    const NBitsMatrix packed = pack_nbits(pool, b.source);
    const bool with_bias = integer(0, 1) != 0;
    matmul_nbits(pool, m, a.data(), k, packed, c.data(), n + 3, with_bias ? bias.data() : nullptr, bytes);
    matmul_nbits(nullptr, m, a.data(), k, packed, one.data(), n + 3, with_bias ? bias.data() : nullptr, bytes);
    EXPECT_EQ(c, one) << "threads change the result";
    const std::vector<float> left = bytes && can_multiply_bytes(packed) ? rounded(a, m, k, block) : a;
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double want = with_bias ? bias[j] : 0, size = 1;
        for (int64_t x = 0; x < k; ++x) {
          want += static_cast<double>(left[i * k + x]) * weights[j * k + x];
          size += std::abs(static_cast<double>(left[i * k + x]) * weights[j * k + x]);
        }
        ASSERT_NEAR(c[i * (n + 3) + j], want, 2e-6 * size)
            << bits << " bits " << m << "x" << n << "x" << k << " block " << block << " at " << i << "," << j;
      }
      ASSERT_EQ(c[i * (n + 3) + n], 77);
    }
  }
};

TEST_P(NBits, RandomShapes) {
  for (int i = 0; i < 240; ++i) {
    const int bits = 2 << integer(0, 2);
    const auto kind = static_cast<Zeros>(integer(0, bits == 4 ? 3 : 2));
    const int64_t m = integer(0, 2) ? 1 : integer(2, 36), n = integer(1, 90), k = integer(1, 700);
    check(bits, m, n, k, int64_t{16} << integer(0, 4), kind, integer(0, 1) != 0);
  }
}

TEST_P(NBits, ManyRows) {
  check(4, 300, 70, 600, 32, Zeros::kNone, false);
  check(4, 150, 49, 333, 32, Zeros::kBytes, true);
  check(8, 13, 33, 272, 272, Zeros::kValues, true);
}

TEST_P(NBits, EveryBlockSizeInBytes) {
  for (int bits : {2, 4, 8}) {
    for (int64_t block = 16; block <= 256; block += 16) {
      const Zeros kind = block / 16 % 2 == bits / 4 % 2 ? Zeros::kNone : Zeros::kBytes;
      check(bits, integer(16, 48), integer(1, 150), integer(1, 3 * block) + integer(0, 1) * 512, block, kind, true);
    }
  }
}

TEST_P(NBits, ManyRowsOfBytesAreWhatEachOfThemIs) {
  for (int bits : {2, 4, 8}) {
    const int64_t m = 41, n = 77, k = 1100;
    const Operand b = operand(bits, n, k, 32, bits == 2 ? Zeros::kNone : Zeros::kBytes, 0);
    const NBitsMatrix packed = pack_nbits(nullptr, b.source);
    if (!can_multiply_bytes(packed)) GTEST_SKIP() << "no products of bytes here";
    const std::vector<float> a = normal(m * k);
    std::vector<float> c(m * n), row(n);
    matmul_nbits(nullptr, m, a.data(), k, packed, c.data(), n, nullptr, true);
    for (int64_t i = 0; i < m; ++i) {
      matmul_nbits(nullptr, 1, a.data() + i * k, k, packed, row.data(), n, nullptr, true);
      ASSERT_EQ(row, std::vector<float>(c.begin() + i * n, c.begin() + (i + 1) * n)) << bits << " bits, row " << i;
    }
  }
}

/** The first level whose kernels multiply bytes. */
base::IsaLevel lowest_with_bytes() {
#if defined(__x86_64__)
  return base::IsaLevel::kAvx2;
#elif defined(__aarch64__)
  return base::IsaLevel::kDotprod;
#else
  return static_cast<base::IsaLevel>(1);  // none
#endif
}

TEST_P(NBits, ProductsOfBytesAreTheSameOnEveryInstructionSet) {
  const base::IsaLevel lowest = lowest_with_bytes();
  for (int bits : {2, 4, 8}) {
    for (int64_t block : {16, 32, 48, 128}) {
      for (const auto kind : {Zeros::kNone, Zeros::kBytes}) {
        const int64_t m = integer(1, 20), n = integer(1, 100), k = integer(1, 600);
        const Operand b = operand(bits, n, k, block, kind, 0);
        const std::vector<float> a = normal(m * k);
        std::vector<float> here(m * n), least(m * n);
        ASSERT_EQ(can_multiply_bytes(pack_nbits(nullptr, b.source)), GetParam() >= lowest);
        if (GetParam() < lowest) continue;
        matmul_nbits(nullptr, m, a.data(), k, pack_nbits(nullptr, b.source), here.data(), n, nullptr, true);
        use_isa(lowest);
        matmul_nbits(nullptr, m, a.data(), k, pack_nbits(nullptr, b.source), least.data(), n, nullptr, true);
        use_isa(GetParam());
        ASSERT_EQ(here, least) << bits << " bits, block " << block << ", " << m << 'x' << n << 'x' << k;
      }
    }
  }
}

TEST_P(NBits, LargestProductsOfBytes) {
  for (int bits : {2, 4, 8}) {
    const int64_t n = 40, k = 512;
    for (uint8_t code : {uint8_t{0}, uint8_t{255}}) {
      Operand b = operand(bits, n, k, 256, Zeros::kNone, 0);
      std::fill(b.data.begin(), b.data.end(), code);
      std::fill(b.scales.begin(), b.scales.end(), 1.0f);
      std::vector<float> weights(n * k);
      dequantize_nbits(b.source, weights.data());
      for (float x : {1.0f, -1.0f}) {
        const std::vector<float> a(7 * k, x);
        std::vector<float> c(7 * n);
        matmul_nbits(nullptr, 7, a.data(), k, pack_nbits(nullptr, b.source), c.data(), n, nullptr, true);
        for (float y : c) ASSERT_NEAR(y, x * weights[0] * k, 1e-6 * k * (1 << bits)) << bits << " bits";
      }
    }
  }
}

TEST_P(NBits, LargeProductsInFloats) {
  const bool tiles = kernels().nbits_tiles != nullptr;
  EXPECT_EQ(std::string_view(nbits_isa(128, 256, 800, 32, false)) == "amx bf16x6", tiles);
  EXPECT_EQ(std::string_view(nbits_isa(16, 256, 800, 32, true)) == "amx", tiles);
  EXPECT_NE(std::string_view(nbits_isa(15, 256, 800, 32, true)), "amx");
  EXPECT_NE(std::string_view(nbits_isa(128, 256, 800, 16, true)), "amx");
  check(4, 150, 333, 900, 32, Zeros::kBytes, false);
  check(8, 128, 256, 800, 128, Zeros::kValues, false);
  check(4, 129, 250, 801, 64, Zeros::kTable, false);
}

TEST_P(NBits, EveryShapeOfSlices) {
  for (int bits : {2, 4}) {
    for (int64_t block : {32, 64, 96, 256, 384, 768}) {
      const Zeros kind = block % 64 != 0 ? Zeros::kNone : Zeros::kBytes;
      check(bits, 64 + integer(0, 40), 256 + integer(0, 40), 512 + integer(1, 1100), block, kind, false);
    }
  }
  check(4, 300, 256, 1600, 32, Zeros::kBytes, false);
}

TEST_P(NBits, OddRowsInFloats) {
  const int64_t m = 75, n = 300, k = 1000;
  for (const auto kind : {Zeros::kNone, Zeros::kBytes}) {
    const Operand b = operand(4, n, k, 32, kind, 0);
    const NBitsMatrix packed = pack_nbits(nullptr, b.source);
    std::vector<float> a = normal(m * k), c(m * n), row(n), weights(n * k);
    dequantize_nbits(b.source, weights.data());
    const float odd[] = {NAN, INFINITY, -INFINITY}, sizes[] = {1e-42f, 1e-30f, 1e25f, 1e34f};
    for (int64_t i = 0; i < m; ++i) {
      if (i % 8 == 3) a[i * k + integer(0, k - 1)] = odd[integer(0, 2)];
      for (int64_t x = 0; x < k && i % 8 == 5; ++x) a[i * k + x] *= sizes[i % 4];
    }
    matmul_nbits(nullptr, m, a.data(), k, packed, c.data(), n, nullptr, false);
    for (int64_t i = 0; i < m; ++i) {
      if (i % 8 == 3) matmul_nbits(nullptr, 1, a.data() + i * k, k, packed, row.data(), n, nullptr, false);
      for (int64_t j = 0; j < n; ++j) {
        double want = 0, size = 0;
        for (int64_t x = 0; x < k; ++x) {
          const double term = static_cast<double>(a[i * k + x]) * weights[j * k + x];
          want += term, size += std::abs(term);
        }
        const float found = c[i * n + j];
        if (i % 8 == 3) {
          ASSERT_TRUE(found == row[j] || (std::isnan(found) && std::isnan(row[j]))) << i << ',' << j;
          ASSERT_FALSE(std::isfinite(found)) << i << ',' << j;
        } else {
          ASSERT_NEAR(found, want, 2e-6 * size + 1e-44) << i << ',' << j;
        }
      }
    }
  }
}

TEST_P(NBits, Empty) {
  for (bool bytes : {false, true}) {
    check(4, 0, 5, 32, 16, Zeros::kNone, bytes);
    check(4, 2, 0, 32, 16, Zeros::kNone, bytes);
    check(4, 2, 5, 0, 16, Zeros::kNone, bytes);
  }
}

TEST_P(NBits, ZeroRowsOfBytes) {
  const Operand b = operand(4, 20, 64, 32, Zeros::kNone, 0);
  const std::vector<float> a(128, 0.0f);
  std::vector<float> c(40, 77);
  matmul_nbits(nullptr, 2, a.data(), 64, pack_nbits(nullptr, b.source), c.data(), 20, nullptr, true);
  EXPECT_EQ(c, std::vector<float>(40, 0.0f));
}

TEST_P(NBits, RowsThatBytesCannotHold) {
  const int64_t n = 70, k = 96;
  for (const auto kind : {Zeros::kNone, Zeros::kBytes}) {
    const Operand b = operand(4, n, k, 32, kind, 0);
    const NBitsMatrix packed = pack_nbits(nullptr, b.source);
    std::vector<float> weights(n * k);
    dequantize_nbits(b.source, weights.data());
    for (int64_t m : {1, 5, 20}) {
      for (const float odd : {NAN, -NAN, INFINITY, -INFINITY, 3e-42f}) {
        std::vector<float> a = normal(m * k), c(m * n), others(m * n);
        if (std::isfinite(odd)) std::fill_n(a.end() - k, k, 0.0f);
        matmul_nbits(nullptr, m, a.data(), k, packed, others.data(), n, nullptr, true);
        a[m * k - 9] = odd;
        matmul_nbits(nullptr, m, a.data(), k, packed, c.data(), n, nullptr, true);
        ASSERT_TRUE(std::equal(c.begin(), c.end() - n, others.begin())) << odd << " changes other rows";
        for (int64_t j = 0; j < n; ++j) {
          const double want = static_cast<double>(odd) * weights[(j + 1) * k - 9], found = c[(m - 1) * n + j];
          // Infinity times a zero that is a difference may be infinite.
          ASSERT_TRUE(std::isnan(odd)    ? std::isnan(found)
                      : std::isnan(want) ? !std::isfinite(found)
                                         : found == want || std::abs(found - want) < 1e-44)
              << odd << " in " << m << " rows: " << found << " instead of " << want;
        }
      }
    }
  }
}

ORTOLAN_FOR_EACH_ISA(NBits);

}  // namespace
}  // namespace ortolan::cpu::kernels
