// Tests of fp32 products on bfloat16 tiles: splitting, blocks with their tails, and what is finished later.
#include "cpu/kernels/products/split_f32_kernels.h"

#include <array>
#include <bit>
#include <cstring>

#include "cpu/kernels/aligned_buffer.h"
#include "guarded.h"
#include "isa_test.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr double kUnit = 0x1p-24;

float slice_value(const char* at) {
  uint16_t upper;
  std::memcpy(&upper, at, sizeof upper);
  return std::bit_cast<float>(uint32_t{upper} << 16);
}

double sum_of_slices(const char* tiles, int slices, int64_t at) {
  double sum = 0;
  for (int s = 0; s < slices; ++s) sum += slice_value(tiles + s * 2048 + at);
  return sum;
}

// Where an element of a k-step lies in its slice.
#if defined(__aarch64__)
int64_t row_place(int64_t row, int64_t k) { return k / 4 * 256 + row * 8 + k % 4 * 2; }
int64_t column_place(int64_t column, int64_t k) { return row_place(column, k); }
constexpr int64_t kFilledColumns = 8;  // missing columns are zero up to a multiple
#else
int64_t row_place(int64_t row, int64_t k) { return row * 64 + k * 2; }
int64_t column_place(int64_t column, int64_t k) {
  return column / 16 * 1024 + k / 2 * 64 + column % 16 * 4 + k % 2 * 2;
}
constexpr int64_t kFilledColumns = 16;
#endif

// Rows or columns as tiles.
struct Tiles {
  Tiles(int slices, int64_t k) : buffer(static_cast<size_t>(split_bytes(slices, k))), slices(slices) {
    std::memset(data(), 0x7f, buffer.bytes());  // NaN, where nothing is written
  }
  char* data() { return buffer.as<char>(); }
  double row_element(int64_t row, int64_t k) {
    return sum_of_slices(data() + k / 32 * slices * 2048, slices, row_place(row, k % 32));
  }
  double column_element(int64_t column, int64_t k) {
    return sum_of_slices(data() + k / 32 * slices * 2048, slices, column_place(column, k % 32));
  }
  AlignedBuffer buffer;
  int slices;
  SplitRange range;
};

class SplitF32 : public testing::Test {
 protected:
  void SetUp() override {
    if (!use_tiles()) GTEST_SKIP() << "this processor has no tiles";
    kernels_ = kernels().split_f32;
    slices_ = most_slices(*kernels_);
  }
  void TearDown() override { use_isa(base::cpu_features().isa); }

  std::vector<float> values(int64_t n) {
    std::normal_distribution<float> normal;
    std::vector<float> v(n);
    for (float& x : v) x = normal(random_) * std::ldexp(1.0f, static_cast<int>(random_() % 20) - 10);
    return v;
  }
  /** Those that slices_ slices hold exactly. */
  std::vector<float> held_values(int64_t n) {
    std::vector<float> v = values(n);
    for (float& x : v) x = held(x);
    return v;
  }
  float held(float x) const { return slices_ == 3 ? x : std::bit_cast<float>(std::bit_cast<uint32_t>(x) & 0xffff0000); }
  /** The numbers of slices that hold less. */
  std::vector<int> fewer_slices() const { return slices_ == 3 ? std::vector<int>{1, 2} : std::vector<int>{1}; }
  int64_t integer(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random_); }

  Tiles rows_of(int slices, const float* a, int64_t stride, int64_t rows, int64_t k) {
    Tiles tiles(slices, k);
    kernels_->split_rows(slices, {a, stride, rows, k}, tiles.data(), &tiles.range);
    return tiles;
  }
  Tiles columns_of(int slices, const float* b, int64_t stride, int64_t k, int64_t columns) {
    Tiles tiles(slices, k);
    kernels_->split_columns(slices, {{b, columns > 16 ? b + 16 : nullptr}, {stride, stride}, k, columns}, tiles.data(),
                            &tiles.range);
    return tiles;
  }

  const SplitF32Kernels* kernels_ = nullptr;
  int slices_ = 3;  // most of an operand
  std::mt19937 random_{4321};
};

TEST_F(SplitF32, SlicesOfRowsAreExact) {
  for (int64_t k = 1; k <= 100; k += k < 70 ? 1 : 13) {
    const int64_t rows = integer(1, 32), stride = k + integer(0, 3);
    const std::vector<float> a = held_values((rows - 1) * stride + k);
    const Guarded<float> guarded(a, Edge::kEnd);
    Tiles tiles = rows_of(slices_, guarded.get(), stride, rows, k);
    ASSERT_FALSE(tiles.range.scaled);
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t x = 0; x < split_steps(k) * 32; ++x) {
        ASSERT_EQ(tiles.row_element(i, x), x < k ? a[i * stride + x] : 0) << i << ',' << x << " of " << k;
      }
    }
  }
}

TEST_F(SplitF32, SlicesOfColumnsAreExactHoweverTheyAreParted) {
  for (int64_t columns = 1; columns <= 32; ++columns) {
    const int64_t k = integer(1, 130), stride = columns + integer(0, 5);
    const std::vector<float> b = held_values((k - 1) * stride + columns);
    const Guarded<float> guarded(b, Edge::kEnd);
    Tiles tiles = columns_of(slices_, guarded.get(), stride, k, columns);
    const int64_t filled = (columns + kFilledColumns - 1) / kFilledColumns * kFilledColumns;
    for (int64_t j = 0; j < filled; ++j) {
      for (int64_t x = 0; x < split_steps(k) * 32; ++x) {
        ASSERT_EQ(tiles.column_element(j, x), x < k && j < columns ? b[x * stride + j] : 0)
            << j << ',' << x << " of " << columns << ',' << k;
      }
    }
  }
}

TEST_F(SplitF32, FewerSlicesAreTheNearest) {
  const std::vector<float> a = values(32 * 64);
  for (int slices : fewer_slices()) {
    Tiles rows = rows_of(slices, a.data(), 64, 32, 64), columns = columns_of(slices, a.data(), 32, 64, 32);
    for (int64_t i = 0; i < 32 * 64; ++i) {
      const double room = std::fabs(a[i]) * std::ldexp(1.0, slices == 1 ? -8 : -16);
      ASSERT_NEAR(rows.row_element(i / 64, i % 64), a[i], room);
      ASSERT_NEAR(columns.column_element(i % 32, i / 32), a[i], room);
    }
  }
}

TEST_F(SplitF32, MaximaOutsideTheRangeAreScaledExactly) {
  const float sizes[] = {1, 0x1p-30f, 0x1p30f, 0x1.fp-31f, 0x1.2p31f, 0x1p-126f, 0x1p-149f, held(0x1.fffffep127f),
                         0, 0x1p-140f};
  const int64_t k = 40;
  std::vector<float> a(32 * k), b(32 * k);
  for (int64_t i = 0; i < 32; ++i) {
    for (int64_t x = 0; x < k; ++x) {
      a[i * k + x] = sizes[i % 10] * (x == 0 ? 1.0f : std::ldexp(1.0f, -static_cast<int>(integer(0, 2))));
      b[x * 32 + i] = a[i * k + x];
    }
  }
  Tiles rows = rows_of(slices_, a.data(), k, 32, k), columns = columns_of(slices_, b.data(), 32, k, 32);
  for (int64_t i = 0; i < 32; ++i) {
    const bool outside = sizes[i % 10] != 0 && (sizes[i % 10] < 0x1p-30f || sizes[i % 10] > 0x1p30f);
    ASSERT_EQ(rows.range.exponents[i] != 0, outside) << i;
    ASSERT_EQ(rows.range.exponents[i], columns.range.exponents[i]);
    for (int64_t x = 0; x < k; ++x) {
      const double want = std::ldexp(double{a[i * k + x]}, static_cast<int>(rows.range.exponents[i]));
      ASSERT_EQ(rows.row_element(i, x), want) << i;
      ASSERT_EQ(columns.column_element(i, x), want) << i;
    }
  }
  EXPECT_TRUE(rows.range.scaled && columns.range.scaled);
  EXPECT_EQ(rows.range.odd | columns.range.odd, 0u);
}

// One block of a product.
struct Block {
  int64_t m, n, k;
  std::vector<float> a, b, c;

  double exact(int64_t i, int64_t j, double* size = nullptr) const {
    double sum = 0, magnitude = 0;
    for (int64_t x = 0; x < k; ++x) {
      sum += double{a[i * k + x]} * b[x * n + j];
      magnitude += std::fabs(double{a[i * k + x]} * b[x * n + j]);
    }
    if (size != nullptr) *size = magnitude;
    return sum;
  }
};

class SplitBlocks : public SplitF32 {
 protected:
  Block random_block(int64_t m, int64_t n, int64_t k) {
    return {m, n, k, held_values(m * k), held_values(k * n), std::vector<float>(m * n, 77)};
  }
  void multiply(Block& t, int slices) {
    Tiles a = rows_of(slices, t.a.data(), t.k, t.m, t.k), b = columns_of(slices, t.b.data(), t.n, t.k, t.n);
    AlignedBuffer sums(4096);
    SplitSequence sequence{sums.as<float>()};
    GemmFinish finish{t.c.data(), t.n, t.m, t.n};
    const SplitScope scope(*kernels_);
    kernels_->multiply(sequence, {slices, split_steps(t.k), a.data(), &a.range, b.data(), &b.range, finish});
    kernels_->finish(sequence);
  }
  /** What six products are proven to keep to for k up to kSplitLongest; one of exact factors rounds its sums to odd,
     twice for four of them. */
  double bound(int64_t k) const {
    return slices_ == 3 ? 20 + 1.04 * static_cast<double>(split_steps(k)) : 2 + 2 * static_cast<double>(k);
  }
  static void expect_near(const Block& t, double units) {
    for (int64_t i = 0; i < t.m; ++i) {
      for (int64_t j = 0; j < t.n; ++j) {
        double size;
        const double want = t.exact(i, j, &size);
        ASSERT_NEAR(t.c[i * t.n + j], want, units * kUnit * size + 0x1p-149)
            << t.m << 'x' << t.n << 'x' << t.k << " at " << i << ',' << j;
      }
    }
  }
};

TEST_F(SplitBlocks, EveryHeightAndWidth) {
  for (int64_t m = 1; m <= 32; ++m) {
    for (int64_t n : {integer(1, 16), int64_t{16}, integer(17, 31), int64_t{32}}) {
      Block t = random_block(m, n, integer(1, 70));
      multiply(t, slices_);
      expect_near(t, bound(t.k));
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(SplitBlocks, FewerProductsAreLessExactByWhatTheirSlicesLack) {
  for (int slices : fewer_slices()) {
    Block t = random_block(32, 32, 256);
    t.a = values(32 * 256);
    multiply(t, slices);
    expect_near(t, slices == 1 ? 0x1p17 : 0x1p10);
    double worst = 0;
    for (int64_t i = 0; i < 32 * 32; ++i) {
      double size;
      const double want = t.exact(i / 32, i % 32, &size);
      worst = std::max(worst, std::fabs(t.c[i] - want) / (kUnit * size));
    }
    EXPECT_GT(worst, slices == 1 ? 0x1p9 : 4) << "other products than asked for";
  }
}

TEST_F(SplitBlocks, TinyAndHugeRowsAndColumns) {
  Block t = random_block(29, 31, 96);
  const int row_exponents[] = {0, -60, -100, -126, -140, 60, 100, 115}, column_exponents[] = {0, 50, -50, -20, 20, 90};
  for (int64_t i = 0; i < t.m * t.k; ++i) t.a[i] = std::ldexp(t.a[i], row_exponents[i / t.k % 8]);
  for (int64_t i = 0; i < t.k * t.n; ++i) t.b[i] = std::ldexp(t.b[i], column_exponents[i % t.n % 6]);
  multiply(t, slices_);
  for (int64_t i = 0; i < t.m; ++i) {
    for (int64_t j = 0; j < t.n; ++j) {
      double size;
      const double want = t.exact(i, j, &size);
      if (std::fabs(want) > 0x1.fffffep127) {
        ASSERT_EQ(t.c[i * t.n + j], static_cast<float>(want)) << i << ',' << j;
      } else {
        ASSERT_NEAR(t.c[i * t.n + j], want, bound(t.k) * kUnit * size + 0x1p-149) << i << ',' << j;
      }
    }
  }
}

TEST_F(SplitBlocks, InfAndNaNComeOutAsInPlainArithmetic) {
  for (int slices = 1; slices <= slices_; ++slices) {
    Block t = random_block(30, 27, 77);
    t.a[3 * t.k + 5] = INFINITY;
    t.a[7 * t.k + 76] = -INFINITY;
    t.a[7 * t.k + 75] = 0x1.fffffep127f;
    t.a[9 * t.k] = std::bit_cast<float>(0x7f800001);
    t.a[10 * t.k + 33] = std::bit_cast<float>(0x7fffffff);
    t.b[5 * t.n + 11] = 0;  // times Inf
    t.b[20 * t.n + 13] = -INFINITY;
    t.b[21 * t.n + 14] = NAN;
    multiply(t, slices);
    for (int64_t i = 0; i < t.m; ++i) {
      for (int64_t j = 0; j < t.n; ++j) {
        double size;
        const double want = t.exact(i, j, &size);
        const float got = t.c[i * t.n + j];
        if (std::isfinite(want)) {
          ASSERT_NEAR(got, want, std::ldexp(size, 1 - 7 * slices)) << i << ',' << j;
        } else {
          ASSERT_TRUE(std::isnan(want) ? std::isnan(got) : got == static_cast<float>(want)) << i << ',' << j;
        }
      }
    }
  }
}

/** A product of several bands of rows and panels of columns with everything that a finish can do. */
struct FinishedProduct {
  int64_t m, n, k;
  std::vector<float> a, b, bias, row_bias, residual, c;

  ColumnSource columns(int64_t panel) const {
    const float* from = b.data() + panel * 32;
    return {{from, from + 16}, {n, n}, k, std::min<int64_t>(32, n - panel * 32)};
  }
  GemmFinish finish(int64_t band, int64_t panel) {
    GemmFinish finish{c.data() + band * 32 * n + panel * 32, n, std::min<int64_t>(32, m - band * 32),
                      std::min<int64_t>(32, n - panel * 32)};
    finish.alpha = -0.5f;
    finish.c_scale = 2;
    finish.column_bias = bias.data() + panel * 32;
    finish.row_bias = row_bias.data() + band * 32;
    finish.shift = 0.25f;
    finish.residual = residual.data() + (finish.c - c.data());
    finish.residual_stride = n;
    finish.clamp = true;
    finish.low = -20;
    finish.high = INFINITY;
    return finish;
  }
  /** The result's element (i, j) before it is halved, where c held `before`. */
  double exact(int64_t i, int64_t j, double before, double* size) const {
    const double product = Block{m, n, k, a, b, {}}.exact(i, j, size);
    return std::max(-0.5 * product + 2 * before + bias[j] + row_bias[i] + 0.25 + residual[i * n + j], -20.0);
  }
};

TEST_F(SplitBlocks, BlocksAreFinishedWhileTheNextAreMultiplied) {
  const int64_t k = 96, m = 75, n = 83, panels = 3, bands = 3;
  FinishedProduct t{m, n, k, held_values(m * k), held_values(k * n), values(n), values(m), values(m * n), {}};
  t.c.assign(m * n, 3);
  std::vector<Tiles> rows;
  for (int64_t i = 0; i < bands; ++i)
    rows.push_back(rows_of(slices_, t.a.data() + i * 32 * k, k, std::min<int64_t>(32, m - i * 32), k));
  Tiles right(slices_, k);
  AlignedBuffer sums(4096);
  SplitSequence sequence{sums.as<float>()};
  const auto halve = [](const float* x, float* y, int64_t count, float p0, float) {
    for (int64_t i = 0; i < count; ++i) y[i] = x[i] * p0;
  };
  {
    const SplitScope scope(*kernels_);
    for (int64_t panel = 0; panel < panels; ++panel) {
      kernels_->split_columns(slices_, t.columns(panel), right.data(), &right.range);
      for (int64_t i = 0; i < bands; ++i) {
        kernels_->multiply(sequence, {slices_, split_steps(k), rows[i].data(), &rows[i].range, right.data(),
                                      &right.range, t.finish(i, panel), halve, 0.5f});
      }
    }
    kernels_->finish(sequence);
  }
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double size;
      const double want = 0.5 * t.exact(i, j, 3, &size);
      ASSERT_NEAR(t.c[i * n + j], want, bound(k) * kUnit * (size + std::fabs(want) + 1e3)) << i << ',' << j;
    }
  }
}

}  // namespace
}  // namespace ortolan::cpu::kernels
