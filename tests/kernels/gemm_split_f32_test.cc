// Tests of fp32 products on tiles: shapes, epilogues, odd values, the same bits for every number of threads.
#include "tile_products.h"

namespace ortolan::cpu::kernels::tile_products {
namespace {

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
    ASSERT_STREQ(gemm_isa(t.m, t.n, t.k), kernels().split_f32->names[most_slices() - 1]);
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
    ASSERT_STREQ(gemm_isa(t.m, t.n, t.k), kernels().split_f32->names[most_slices() - 1]);
    const Guarded<float> a(t.a, edge), b(t.b, edge), c(std::vector<float>(t.m * t.n), edge);
    gemm(nullptr, t.m, t.n, t.k, a.get(), t.k, false, b.get(), t.n, false, c.get(), t.n, {});
    gemm(nullptr, t.m, t.n, t.k, a.get(), t.m, true, b.get(), t.k, true, c.get(), t.n, {});
  }
}

TEST_F(GemmSplitF32, Batches) {
  const int64_t count = 5, m = 128, n = 144, k = 288;
  ASSERT_STREQ(gemm_isa(m, n, k), kernels().split_f32->names[most_slices() - 1]);
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
  const char* const plain = base::isa_name(kernels().gemm_f32->isa);
  const char* const names[] = {"amx bf16x6", plain, "amx bf16x3", "amx bf16"};
  const char* const names_of_one[] = {plain, plain, plain, "i8mm bf16"};
  const bool one = most_slices() == 1;
  for (Fp32Precision precision :
       {Fp32Precision::kX6, Fp32Precision::kExact, Fp32Precision::kX3, Fp32Precision::kBf16}) {
    const ScopedRunScope scope({precision});
    EXPECT_STREQ(gemm_isa(t.m, t.n, t.k), (one ? names_of_one : names)[static_cast<int>(precision)]);
    rms[static_cast<int>(precision)] = errors_of(t, chosen_product(t)).rms;
  }
  if (one) {
    EXPECT_EQ(rms[0], rms[1]);
    EXPECT_EQ(rms[2], rms[1]);
  } else {
    EXPECT_LT(rms[0], rms[1]);
    EXPECT_GT(rms[2], 2 * rms[1]);
    EXPECT_LT(rms[2], 100 * rms[1]);
  }
  EXPECT_GT(rms[3], 100 * rms[2]);
  EXPECT_LT(rms[3], 0x1p16);
}

}  // namespace
}  // namespace ortolan::cpu::kernels::tile_products
