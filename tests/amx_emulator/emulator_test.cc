// Real tile instructions, executed by the emulator where the processor has none, against plain loops; and what it
// refuses.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "amx_emulator/tile_unit.h"
#include "base/cpu_features.h"
#include "thrown_text.h"

extern "C" bool ortolan_emulates_tiles() noexcept;

namespace ortolan::tests {
namespace {

struct Configuration {
  alignas(64) uint8_t bytes[64] = {1};
  void set(int tile, int rows, int row_bytes) {
    bytes[16 + 2 * tile] = static_cast<uint8_t>(row_bytes);
    bytes[48 + tile] = static_cast<uint8_t>(rows);
  }
};

// Tile 0: sums, 1: left, 2: right.
Configuration product_shape(int rows, int groups, int columns) {
  Configuration c;
  c.set(0, rows, 4 * columns);
  c.set(1, rows, 4 * groups);
  c.set(2, groups, 4 * columns);
  return c;
}

class Tiles : public testing::Test {
 protected:
  void SetUp() override {
    if (base::cpu_features().detected < base::IsaLevel::kAmx) GTEST_SKIP() << "no AVX-512 of that kind here";
  }
  std::vector<char> random_bytes(size_t n) {
    std::vector<char> bytes(n);
    for (char& b : bytes) b = static_cast<char>(random_());
    return bytes;
  }
  std::mt19937 random_{7};
};

__attribute__((target("amx-tile,amx-int8,amx-bf16"))) void multiply(int kind, const Configuration& shape, const char* a,
                                                                    int64_t lda, const char* b, int64_t ldb, char* c,
                                                                    int64_t ldc) {
  asm volatile("ldtilecfg %0" ::"m"(shape) : "memory");
  asm volatile("tileloadd (%0,%1,1), %%tmm0" ::"r"(c), "r"(ldc) : "memory");
  asm volatile("tileloadd (%0,%1,1), %%tmm1" ::"r"(a), "r"(lda) : "memory");
  asm volatile("tileloaddt1 64(%0,%1,1), %%tmm2" ::"r"(b - 64), "r"(ldb) : "memory");
  if (kind == 0) asm volatile("tdpbssd %%tmm2, %%tmm1, %%tmm0" ::);
  if (kind == 1) asm volatile("tdpbsud %%tmm2, %%tmm1, %%tmm0" ::);
  if (kind == 2) asm volatile("tdpbusd %%tmm2, %%tmm1, %%tmm0" ::);
  if (kind == 3) asm volatile("tdpbuud %%tmm2, %%tmm1, %%tmm0" ::);
  if (kind == 4) asm volatile("tdpbf16ps %%tmm2, %%tmm1, %%tmm0" ::);
  asm volatile("tilestored %%tmm0, (%0,%1,1)" ::"r"(c), "r"(ldc) : "memory");
  asm volatile("tilerelease" ::);
}

int32_t as_int(char byte, bool is_signed) { return is_signed ? static_cast<int8_t>(byte) : static_cast<uint8_t>(byte); }

TEST_F(Tiles, MultiplyBytes) {
  for (int kind = 0; kind < 4; ++kind) {
    const int rows = 16 - 3 * kind, groups = 16 - kind, columns = 16 - 5 * kind;
    const auto a = random_bytes(16 * 80), b = random_bytes(64 + 16 * 192);
    std::vector<int32_t> c(16 * 20, 5);
    const char* right = b.data() + 64;
    multiply(kind, product_shape(rows, groups, columns), a.data(), 80, right, 192, reinterpret_cast<char*>(c.data()),
             80);
    for (int i = 0; i < 16; ++i) {
      for (int j = 0; j < 20; ++j) {
        int32_t sum = 5;
        for (int k = 0; k < (i < rows && j < columns ? 4 * groups : 0); ++k) {
          sum += as_int(a[i * 80 + k], kind < 2) * as_int(right[k / 4 * 192 + j * 4 + k % 4], kind % 2 == 0);
        }
        ASSERT_EQ(c[i * 20 + j], sum) << "kind " << kind << " at " << i << ',' << j;
      }
    }
  }
}

float from_bf16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }

TEST_F(Tiles, MultiplyBfloat16InTheManualsOrder) {
  std::vector<uint16_t> a(16 * 32), b(16 * 32);
  for (auto* values : {&a, &b}) {
    for (uint16_t& v : *values) v = static_cast<uint16_t>((random_() & 0x80ff) + ((100 + random_() % 50) << 7));
  }
  a[3] = 0x0001;  // a denormal counts as zero
  std::vector<float> c(16 * 16, 0.25f);
  multiply(4, product_shape(16, 16, 16), reinterpret_cast<const char*>(a.data()), 64,
           reinterpret_cast<const char*>(b.data()), 64, reinterpret_cast<char*>(c.data()), 64);
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 16; ++j) {
      float part[2] = {0, 0};
      for (int k = 0; k < 32; ++k) {
        const float x = flushed(from_bf16(a[i * 32 + k])), y = flushed(from_bf16(b[k / 2 * 32 + 2 * j + k % 2]));
        part[k % 2] = flushed(std::fma(x, y, part[k % 2]));
      }
      ASSERT_EQ(c[i * 16 + j], flushed(0.25f + flushed(part[0] + part[1]))) << i << ',' << j;
    }
  }
}

TEST_F(Tiles, FailWhereTheProcessorRefuses) {
  TileUnit unit;
  const auto fails = [](const char* part, auto&& body) { return test::throws<TileFault>(part, body); };
  EXPECT_TRUE(fails("without configuration", [&] { unit.zero(0); }));
  Configuration c = product_shape(16, 16, 16);
  unit.configure(c.bytes);
  EXPECT_NO_THROW(unit.multiply_bf16(0, 1, 2));
  EXPECT_TRUE(fails("names a tile twice", [&] { unit.multiply_bf16(0, 1, 1); }));
  EXPECT_TRUE(fails("configuration leaves empty", [&] { unit.zero(5); }));
  c.set(1, 15, 64);
  unit.configure(c.bytes);
  EXPECT_TRUE(fails("shapes do not fit", [&] { unit.multiply_bf16(0, 1, 2); }));  // rows of the sums and of the left
  c.set(1, 17, 64);
  EXPECT_TRUE(fails("tile too large", [&] { unit.configure(c.bytes); }));
  c.set(1, 16, 64);
  c.bytes[40] = 1;
  EXPECT_TRUE(fails("reserved bytes", [&] { unit.configure(c.bytes); }));
  unit.release();
  EXPECT_TRUE(fails("without configuration", [&] { unit.zero(0); }));
}

}  // namespace
}  // namespace ortolan::tests
