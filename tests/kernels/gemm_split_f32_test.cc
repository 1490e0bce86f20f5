// Tests of fp32 products on tiles: as exact as plain arithmetic for all kinds of values, independent of threads.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/error.h"
#include "base/threads/run_scope.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/products/gemm_f32.h"
#include "cpu/kernels/products/gemm_f32_product.h"
#include "guarded.h"
#include "isa_test.h"
#include "pools.h"

namespace ortolan::cpu::kernels {
namespace {

using base::Fp32Precision;
using base::ScopedRunScope;

constexpr double kUnit = 0x1p-24;
constexpr double kLargest = 0x1.fffffep127;

struct Operands {
  int64_t m, n, k;
  std::vector<float> a, b;
  std::vector<double> exact, size;  // the product, and that of the magnitudes

  void compute() {
    exact.assign(m * n, 0);
    size.assign(m * n, 0);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t x = 0; x < k; ++x) {
        for (int64_t j = 0; j < n; ++j) {
          const double v = double{a[i * k + x]} * b[x * n + j];
          exact[i * n + j] += v;
          size[i * n + j] += std::fabs(v);
        }
      }
    }
  }
};

// Computed on tiles whatever gemm would choose.
std::vector<float> product(const Operands& t, GemmRightForm form = GemmRightForm::kPacked,
                           base::ThreadPool* pool = nullptr) {
  std::vector<float> c(t.m * t.n, NAN), columns(form == GemmRightForm::kColumns ? t.b.size() : 0);
  for (size_t i = 0; i < columns.size(); ++i) columns[i % t.n * t.k + i / t.n] = t.b[i];
  const PackedMatrix packed = pack_b(pool, t.k, t.n, t.b.data(), t.n, false);
  GemmRight b = packed_right(packed);
  if (form == GemmRightForm::kRows) b = {t.b.data(), form, t.n};
  if (form == GemmRightForm::kColumns) b = {columns.data(), form, t.k};
  const Epilogue epilogue;
  multiply_on_tiles(pool, {t.m, t.n, t.k, {t.a.data(), t.k}, b, c.data(), t.n, epilogue, packed.kernels()}, 3);
  return c;
}

// Computed as gemm chooses.
std::vector<float> chosen_product(const Operands& t) {
  std::vector<float> c(t.m * t.n, NAN);
  gemm(nullptr, t.m, t.n, t.k, t.a.data(), t.k, false, t.b.data(), t.n, false, c.data(), t.n, {});
  return c;
}

// One chain of fp32 multiply-adds for each sum.
std::vector<float> plain_product(const Operands& t) {
  std::vector<float> c(t.m * t.n);
  for (int64_t i = 0; i < t.m; ++i) {
    for (int64_t x = 0; x < t.k; ++x) {
      for (int64_t j = 0; j < t.n; ++j) c[i * t.n + j] = std::fma(t.a[i * t.k + x], t.b[x * t.n + j], c[i * t.n + j]);
    }
  }
  return c;
}

GemmRightForm form_of(int64_t i) {
  const GemmRightForm forms[] = {GemmRightForm::kPacked, GemmRightForm::kRows, GemmRightForm::kColumns};
  return forms[i % 3];
}

// What six products are proven to keep to, in units of the last place of the sum of magnitudes.
double bound(int64_t k) {
  return 19 + 1.04 * static_cast<double>((std::min<int64_t>(k, 768) + 31) / 32) + static_cast<double>((k + 767) / 768);
}

struct Errors {
  double rms = 0, worst = 0;
};

Errors errors_of(const Operands& t, const std::vector<float>& c) {
  Errors e;
  for (size_t i = 0; i < c.size(); ++i) {
    if (t.size[i] == 0 || std::fabs(t.exact[i]) > kLargest) continue;
    const double error = std::max(0.0, std::fabs(c[i] - t.exact[i]) - 0x1p-149) / (kUnit * t.size[i]);
    e.rms += error * error / static_cast<double>(c.size());
    e.worst = error <= e.worst ? e.worst : error;
  }
  e.rms = std::sqrt(e.rms);
  return e;
}

class GemmSplitF32 : public testing::Test {
 protected:
  void SetUp() override {
    if (!use_tiles()) GTEST_SKIP() << "this processor has no tiles";
  }
  void TearDown() override { use_isa(base::cpu_features().isa); }

  float normal() { return std::normal_distribution<float>()(random_); }
  float uniform() { return std::uniform_real_distribution<float>(-1, 1)(random_); }
  int64_t integer(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random_); }
  std::vector<float> normal(int64_t n) {
    std::vector<float> v(n);
    for (float& x : v) x = normal();
    return v;
  }

  Operands operands(int64_t m, int64_t n, int64_t k) {
    Operands t{m, n, k, normal(m * k), normal(k * n), {}, {}};
    for (float& v : t.b) v *= 0.05f;
    return t;
  }

  void scale_rows(Operands& t, const std::vector<float>& factors) {
    for (int64_t i = 0; i < t.m * t.k; ++i) t.a[i] *= factors[i / t.k % factors.size()];
  }
  void scale_columns(Operands& t, const std::vector<float>& factors) {
    for (int64_t i = 0; i < t.k * t.n; ++i) t.b[i] *= factors[i % t.n % factors.size()];
  }
  std::vector<float> powers(int64_t count, float base, float most) {
    std::vector<float> v(count);
    for (float& x : v) x = std::pow(base, most * uniform());
    return v;
  }

  void expect_exact(Operands& t, const char* what) {
    t.compute();
    const Errors tiles = errors_of(t, product(t));
    EXPECT_LE(tiles.rms, errors_of(t, plain_product(t)).rms) << what << ", k " << t.k;
    const ScopedRunScope plain({Fp32Precision::kExact});
    EXPECT_LE(tiles.rms, 1.05 * errors_of(t, chosen_product(t)).rms) << what << ", k " << t.k;
    EXPECT_LE(tiles.worst, bound(t.k)) << what << ", k " << t.k;
  }

  std::mt19937 random_{99};
};

constexpr int64_t kDepths[] = {64, 768, 1550};

TEST_F(GemmSplitF32, NormalAndPositiveValues) {
  for (int64_t k : kDepths) {
    Operands t = operands(64, 128, k);
    expect_exact(t, "normal");
    for (float& v : t.a) v = std::max(v, 0.0f);
    for (float& v : t.b) v = std::fabs(v);
    expect_exact(t, "positive");
  }
}

TEST_F(GemmSplitF32, ValuesOfManySizes) {
  for (int64_t k : kDepths) {
    Operands t = operands(64, 128, k);
    scale_rows(t, powers(t.m, 10, 12));
    scale_columns(t, powers(t.n, 10, 12));
    expect_exact(t, "rows and columns times 10^+-12");

    t = operands(64, 128, k);
    const std::vector<float> inner = powers(k, 2, 12);
    for (int64_t i = 0; i < t.m * k; ++i) t.a[i] *= inner[i % k];
    for (int64_t i = 0; i < k * t.n; ++i) t.b[i] /= inner[i / t.n];
    expect_exact(t, "inner index times 2^+-12");

    t = operands(64, 128, k);
    for (std::vector<float>* values : {&t.a, &t.b}) {
      for (float& v : *values) v *= std::exp2(30 * uniform());
    }
    expect_exact(t, "elements times 2^+-30");

    t = operands(64, 128, k);
    for (int64_t i = 0; i < t.m; ++i) {
      for (int64_t x : {5, 21, 60}) t.a[i * k + x] *= 1000;
    }
    expect_exact(t, "outliers");
  }
}

TEST_F(GemmSplitF32, CancellingSumsAndSoftmax) {
  for (int64_t k : kDepths) {
    Operands t = operands(64, 128, k);
    for (int64_t x = 0; x < k / 2; ++x) {
      for (int64_t i = 0; i < t.m; ++i) t.a[i * k + x + k / 2] = t.a[i * k + x] * (1 + 1e-5f * uniform());
      for (int64_t j = 0; j < t.n; ++j) t.b[(x + k / 2) * t.n + j] = -t.b[x * t.n + j] * (1 + 1e-5f * uniform());
    }
    expect_exact(t, "cancellation");

    t = operands(64, 128, k);
    for (int64_t i = 0; i < t.m; ++i) {
      double sum = 0;
      for (int64_t x = 0; x < k; ++x) sum += t.a[i * k + x] = std::exp(8 * t.a[i * k + x]);
      for (int64_t x = 0; x < k; ++x) t.a[i * k + x] /= static_cast<float>(sum);
    }
    expect_exact(t, "softmax");
  }
}

TEST_F(GemmSplitF32, TinyAndHugeValues) {
  for (int64_t k : {int64_t{192}, int64_t{800}}) {
    Operands t = operands(64, 128, k);
    scale_rows(t, {0x1p-130f, 0x1p-140f});
    scale_columns(t, {1, 0x1p10f});
    expect_exact(t, "denormal rows");

    t = operands(64, 128, k);
    scale_columns(t, {0x1p-120f, 0x1p-127f, 0x1p-60f});
    scale_rows(t, {0x1p110f, 0x1p60f});
    expect_exact(t, "tiny columns, huge rows");

    t = operands(70, 130, k);
    scale_rows(t, {1, 0x1p-100f, 0x1p100f, 0x1p-35f, 0x1p33f, 0x1p-126f, 0x1p120f});
    expect_exact(t, "mixed rows");

    t = operands(64, 128, k);
    for (float& v : t.a) v = std::clamp(v, -1.9f, 1.9f) * 0x1p127f;
    scale_columns(t, {0x1p-10f, 0x1p-100f});
    expect_exact(t, "rows up to the largest number");
  }
}

TEST_F(GemmSplitF32, EveryDepthAroundTheBlocksOfSums) {
  for (int64_t k = 1; k <= 801; k += k == 34 ? 702 : 1) {
    Operands t = operands(33, 34, k);
    t.compute();
    const Errors e = errors_of(t, product(t, form_of(k)));
    ASSERT_LE(e.worst, bound(k)) << k;
  }
}

TEST_F(GemmSplitF32, EveryHeightAndWidth) {
  for (int64_t extra = 0; extra <= 34; ++extra) {
    for (bool tall : {false, true}) {
      Operands t = operands(32 + (tall ? extra : 0), 32 + (tall ? 0 : extra), 150);
      t.compute();
      const Errors e = errors_of(t, product(t, form_of(extra)));
      ASSERT_LE(e.worst, bound(t.k)) << t.m << 'x' << t.n;
    }
  }
}

TEST_F(GemmSplitF32, ThreadsFormsAndPartsOfTheRowsGiveTheSameBits) {
  // One for threads that share the rows, one for threads with rows of their own, one with few columns, one whose rows
  // do not stay in the cache.
  const int64_t shapes[][3] = {{70, 331, 800}, {611, 150, 90}, {301, 70, 200}, {520, 330, 1100}};
  for (const auto& [m, n, k] : shapes) {
    Operands t = operands(m, n, k);
    scale_rows(t, {1, 1, 1, 0x1p-50f, 1, 1, 0x1p40f});
    t.a[5 * k + 3] = INFINITY;
    const std::vector<float> want = product(t);
    const auto expect_same = [&](const std::vector<float>& c, const char* what, int number) {
      EXPECT_EQ(std::memcmp(c.data(), want.data(), c.size() * sizeof(float)), 0)
          << what << ' ' << number << " for " << m << 'x' << n << 'x' << k;
    };
    for (int threads : kThreadCounts) {
      for (int form = 0; form < 3; ++form) {
        expect_same(product(t, form_of(form), &pool_of(threads)), "threads", threads);
      }
    }
    expect_same(product(t, GemmRightForm::kRows), "B in rows", 0);
    expect_same(product(t, GemmRightForm::kColumns), "B in columns", 0);
    Operands part = t;
    part.m = m - 23;
    expect_same(product(part), "rows", static_cast<int>(part.m));
  }
}

TEST_F(GemmSplitF32, EpiloguesAsInPlainArithmetic) {
  for (int round = 0; round < 16; ++round) {
    Operands t = operands(integer(113, 128), integer(113, 128), integer(600, 1000));
    ASSERT_STREQ(gemm_isa(t.m, t.n, t.k), "amx bf16x6");
    t.compute();
    const int64_t ldc = t.n + integer(0, 3), lda = t.k;
    const std::vector<float> bias = normal(200), residual = normal(t.m * ldc), before = normal(t.m * ldc);
    Epilogue e;
    e.alpha = integer(0, 1) ? 1.0f : -0.75f;
    e.beta = static_cast<float>(integer(0, 2)) * 0.5f;
    e.bias_kind = static_cast<BiasKind>(round % 4);
    e.bias = e.bias_kind == BiasKind::kNone ? nullptr : bias.data();
    if (integer(0, 1)) e.residual = residual.data(), e.residual_stride = ldc;
    const Activation activations[] = {{}, {UnaryOp::kRelu}, {UnaryOp::kClip, -0.5f, 2}, {UnaryOp::kNeg}};
    e.activation = activations[round / 4 % 4];
    std::vector<float> c = before, transposed(t.a.size());
    const bool trans_a = round % 5 == 0;
    for (int64_t i = 0; i < t.m * t.k; ++i) transposed[i % t.k * t.m + i / t.k] = t.a[i];
    const PackedMatrix b = pack_b(nullptr, t.k, t.n, t.b.data(), t.n, false);
    gemm(nullptr, t.m, trans_a ? transposed.data() : t.a.data(), trans_a ? t.m : lda, trans_a, b, c.data(), ldc, e);
    for (int64_t i = 0; i < t.m * ldc; ++i) {
      const int64_t row = i / ldc, column = i % ldc;
      if (column >= t.n) {
        ASSERT_EQ(c[i], before[i]) << "outside the result";
        continue;
      }
      double want = e.alpha * t.exact[row * t.n + column] + e.beta * before[i];
      if (e.bias != nullptr)
        want += bias[e.bias_kind == BiasKind::kColumn ? column : e.bias_kind == BiasKind::kRow ? row : 0];
      if (e.residual != nullptr) want += residual[i];
      if (e.activation.op == UnaryOp::kRelu) want = std::max(want, 0.0);
      if (e.activation.op == UnaryOp::kClip) want = std::clamp(want, -0.5, 2.0);
      if (e.activation.op == UnaryOp::kNeg) want = -want;
      ASSERT_NEAR(c[i], want, kUnit * (bound(t.k) * t.size[row * t.n + column] + 30))
          << "round " << round << " at " << i;
    }
  }
}

TEST_F(GemmSplitF32, InfAndNaNAsInPlainArithmetic) {
  const int64_t m = 80, n = 100, k = 900;
  for (int round = 0; round < 6; ++round) {
    Operands t = operands(m, n, k);
    const float odd[] = {INFINITY, -INFINITY, NAN, std::bit_cast<float>(0x7f800001), std::bit_cast<float>(0xffffffff)};
    for (int i = 0; i < round; ++i) {
      t.a[integer(0, m * k - 1)] = odd[integer(0, 4)];
      t.b[integer(0, n * k - 1)] = i % 2 == 0 ? 0 : odd[integer(0, 4)];
    }
    t.compute();
    const std::vector<float> c = product(t, form_of(round));
    for (int64_t i = 0; i < m * n; ++i) {
      const double want = t.exact[i];
      if (std::isfinite(want)) {
        ASSERT_NEAR(c[i], want, kUnit * bound(k) * t.size[i]) << i;
      } else {
        ASSERT_TRUE(std::isnan(want) ? std::isnan(c[i]) : c[i] == static_cast<float>(want)) << i << ": " << c[i];
      }
    }
  }
}

TEST_F(GemmSplitF32, NothingIsReadOrWrittenOutside) {
  for (Edge edge : {Edge::kBegin, Edge::kEnd}) {
    Operands t = operands(125, 125, 541);
    ASSERT_STREQ(gemm_isa(t.m, t.n, t.k), "amx bf16x6");
    const Guarded<float> a(t.a, edge), b(t.b, edge), c(std::vector<float>(t.m * t.n), edge);
    gemm(nullptr, t.m, t.n, t.k, a.get(), t.k, false, b.get(), t.n, false, c.get(), t.n, {});
    gemm(nullptr, t.m, t.n, t.k, a.get(), t.m, true, b.get(), t.k, true, c.get(), t.n, {});
  }
}

TEST_F(GemmSplitF32, Batches) {
  const int64_t count = 5, m = 128, n = 144, k = 288;
  ASSERT_STREQ(gemm_isa(m, n, k), "amx bf16x6");
  const std::vector<float> a = normal(count * m * k), b = normal(count * k * n);
  std::vector<float> c(count * m * n);
  GemmBatch g;
  g.count = count, g.m = m, g.n = n, g.k = k;
  g.a = a.data(), g.lda = k, g.stride_a = m * k;
  g.b = b.data(), g.ldb = k, g.stride_b = k * n, g.trans_b = true;
  g.c = c.data(), g.ldc = n, g.stride_c = m * n;
  gemm_batched(&two_threads(), g, {.alpha = 0.125f});
  for (int64_t i = 0; i < count * m * n; ++i) {
    const float* row = a.data() + i / n * k;
    const float* column = b.data() + i / (m * n) * k * n + i % n * k;
    double want = 0, size = 0;
    for (int64_t x = 0; x < k; ++x) {
      want += 0.125 * row[x] * column[x];
      size += std::fabs(0.125 * row[x] * column[x]);
    }
    ASSERT_NEAR(c[i], want, kUnit * bound(k) * size) << i;
  }
}

TEST_F(GemmSplitF32, PrecisionChoosesTheArithmetic) {
  Operands t = operands(96, 128, 500);
  t.compute();
  double rms[4];
  const char* const names[] = {"amx bf16x6", base::isa_name(kernels().gemm_f32->isa), "amx bf16x3", "amx bf16"};
  for (Fp32Precision precision :
       {Fp32Precision::kX6, Fp32Precision::kExact, Fp32Precision::kX3, Fp32Precision::kBf16}) {
    const ScopedRunScope scope({precision});
    EXPECT_STREQ(gemm_isa(t.m, t.n, t.k), names[static_cast<int>(precision)]);
    rms[static_cast<int>(precision)] = errors_of(t, chosen_product(t)).rms;
  }
  EXPECT_LT(rms[0], rms[1]);
  EXPECT_GT(rms[2], 2 * rms[1]);
  EXPECT_LT(rms[2], 100 * rms[1]);
  EXPECT_GT(rms[3], 100 * rms[2]);
  EXPECT_LT(rms[3], 0x1p16);
}

TEST_F(GemmSplitF32, SmallAndNarrowProductsStayInPlainArithmetic) {
  for (const auto& [m, n, k] : std::vector<std::array<int64_t, 3>>{
           {1, 768, 768}, {31, 768, 768}, {128, 31, 768}, {128, 768, 63}, {64, 64, 64}, {3136, 64, 64}}) {
    EXPECT_STREQ(gemm_isa(m, n, k), base::isa_name(kernels().gemm_f32->isa)) << m << 'x' << n << 'x' << k;
  }
  for (const auto& [m, n, k] : std::vector<std::array<int64_t, 3>>{
           {128, 768, 768}, {128, 3072, 768}, {512, 512, 512}, {3136, 64, 576}, {196, 256, 2304}}) {
    EXPECT_STREQ(gemm_isa(m, n, k), "amx bf16x6") << m << 'x' << n << 'x' << k;
  }
}

}  // namespace
}  // namespace ortolan::cpu::kernels
