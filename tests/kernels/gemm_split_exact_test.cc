// Tests of fp32 products by six products of bfloat16: as exact as plain arithmetic for all kinds of values.
#include "tile_products.h"

namespace ortolan::cpu::kernels::tile_products {
namespace {

class ExactGemmSplitF32 : public GemmSplitF32 {
 protected:
  void SetUp() override {
    GemmSplitF32::SetUp();
    if (!IsSkipped() && most_slices() < 3) GTEST_SKIP() << "one product of bfloat16 is not exact";
  }
};

constexpr int64_t kDepths[] = {64, 768, 1550};

TEST_F(ExactGemmSplitF32, NormalAndPositiveValues) {
  for (int64_t k : kDepths) {
    Operands t = operands(64, 128, k);
    expect_exact(t, "normal");
    for (float& v : t.a) v = std::max(v, 0.0f);
    for (float& v : t.b) v = std::fabs(v);
    expect_exact(t, "positive");
  }
}

TEST_F(ExactGemmSplitF32, ValuesOfManySizes) {
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

TEST_F(ExactGemmSplitF32, CancellingSumsAndSoftmax) {
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

TEST_F(ExactGemmSplitF32, TinyAndHugeValues) {
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

TEST_F(ExactGemmSplitF32, SmallAndNarrowProductsStayInPlainArithmetic) {
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
}  // namespace ortolan::cpu::kernels::tile_products
