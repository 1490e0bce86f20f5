// Tests of fp32 and fp64 products against double references, on every instruction set.
#include "cpu/kernels/products/gemm_f32.h"

#include <algorithm>
#include <array>

#include "isa_test.h"
#include "pools.h"

namespace ortolan::cpu::kernels {
namespace {

double apply(const Activation& activation, double v) {
  switch (activation.op) {
    case UnaryOp::kRelu:
      return std::max(v, 0.0);
    case UnaryOp::kClip:
      return std::min(std::max(v, double{activation.p0}), double{activation.p1});
    case UnaryOp::kSigmoid:
      return 1 / (1 + std::exp(-v));
    default:
      return v;
  }
}

struct Case {
  int64_t m, n, k;
  bool trans_a, trans_b;
  Epilogue epilogue;
};

class GemmF32 : public IsaTest {
 protected:
  struct Operands {
    int64_t lda, ldb, ldc;
    std::vector<float> a, b, c, bias, residual;
  };

  Operands operands(const Case& t, int64_t padding) {
    Operands o;
    o.lda = (t.trans_a ? t.m : t.k) + padding;
    o.ldb = (t.trans_b ? t.k : t.n) + padding;
    o.ldc = t.n + padding;
    o.a = normal((t.trans_a ? t.k : t.m) * o.lda);
    o.b = normal((t.trans_b ? t.n : t.k) * o.ldb);
    o.c = normal(t.m * o.ldc);
    o.bias = normal(std::max(t.m, t.n) + 1);
    o.residual = normal(t.m * o.ldc);
    return o;
  }

  static double bias_of(const Case& t, const Operands& o, int64_t i, int64_t j) {
    switch (t.epilogue.bias_kind) {
      case BiasKind::kColumn:
        return o.bias[j];
      case BiasKind::kRow:
        return o.bias[i];
      case BiasKind::kScalar:
        return o.bias[0];
      case BiasKind::kNone:
        break;
    }
    return 0;
  }

  static void expect_product(const Case& t, const Operands& o, const std::vector<float>& c) {
    for (int64_t i = 0; i < t.m; ++i) {
      for (int64_t j = 0; j < t.n; ++j) {
        double sum = 0, size = 0;
        for (int64_t k = 0; k < t.k; ++k) {
          const double v =
              double{o.a[t.trans_a ? k * o.lda + i : i * o.lda + k]} * o.b[t.trans_b ? j * o.ldb + k : k * o.ldb + j];
          sum += v;
          size += std::fabs(v);
        }
        double want = t.epilogue.alpha * sum + bias_of(t, o, i, j);
        if (t.epilogue.beta != 0) want += t.epilogue.beta * o.c[i * o.ldc + j];
        if (t.epilogue.residual != nullptr) want += o.residual[i * o.ldc + j];
        want = apply(t.epilogue.activation, want);
        ASSERT_NEAR(c[i * o.ldc + j], want, 4e-7 * (3 * size + 4))
            << t.m << "x" << t.n << "x" << t.k << " at " << i << "," << j << " trans " << t.trans_a << t.trans_b;
      }
      for (int64_t j = t.n; j < o.ldc; ++j) ASSERT_EQ(c[i * o.ldc + j], o.c[i * o.ldc + j]) << "outside the result";
    }
  }

  void check(Case t, bool packed, bool threads, int64_t padding) {
    Operands o = operands(t, padding);
    if (t.epilogue.bias_kind != BiasKind::kNone) t.epilogue.bias = o.bias.data();
    if (t.epilogue.residual_stride != 0) {
      t.epilogue.residual = o.residual.data();
      t.epilogue.residual_stride = o.ldc;
    }
    std::vector<float> c = o.c;
    if (t.epilogue.residual != nullptr && integer(0, 1)) {
      c = o.c = o.residual;
      t.epilogue.residual = c.data();
    }
    base::ThreadPool* pool = threads ? &two_threads() : nullptr;
    if (packed) {
      const PackedMatrix b = pack_b(pool, t.k, t.n, o.b.data(), o.ldb, t.trans_b);
      gemm(pool, t.m, o.a.data(), o.lda, t.trans_a, b, c.data(), o.ldc, t.epilogue);
    } else {
      gemm(pool, t.m, t.n, t.k, o.a.data(), o.lda, t.trans_a, o.b.data(), o.ldb, t.trans_b, c.data(), o.ldc,
           t.epilogue);
    }
    expect_product(t, o, c);
  }

  Epilogue random_epilogue() {
    Epilogue e;
    e.alpha = integer(0, 1) ? 1.0f : -0.75f;
    e.beta = static_cast<float>(integer(0, 2)) * 0.5f;
    e.bias_kind = static_cast<BiasKind>(integer(0, 3));
    e.residual_stride = integer(0, 1);
    const Activation activations[] = {{}, {UnaryOp::kRelu}, {UnaryOp::kClip, -0.5f, 2}, {UnaryOp::kSigmoid}};
    e.activation = activations[integer(0, 3)];
    return e;
  }
};

TEST_P(GemmF32, OneRowOfAnyLengthAndWidth) {
  for (int64_t k : {0, 1, 3, 4, 64, 255, 256, 257, 700}) {
    for (int64_t n : {2, 15, 16, 48, 64, 65, 97, 1000}) {
      for (bool threads : {false, true})
        check({1, n, k, false, integer(0, 1) != 0, random_epilogue()}, true, threads, 1);
    }
  }
}

TEST_P(GemmF32, OneRowIsTheSameFromEitherEnd) {
  for (int64_t n : {2, 48, 65, 400, 1000}) {
    const int64_t k = integer(1, 600);
    std::vector<float> a(k), b(k * n), forward(n), backward(n);
    for (float& v : a) v = static_cast<float>(integer(-99, 99)) * 0.01f;
    for (float& v : b) v = static_cast<float>(integer(-99, 99)) * 0.01f;
    const PackedMatrix packed = pack_b(nullptr, k, n, b.data(), n, false);
    const Epilogue sigmoid{.activation = {UnaryOp::kSigmoid}};
    gemm(nullptr, 1, a.data(), k, false, packed, forward.data(), n, sigmoid);
    gemm(&two_threads(), 1, a.data(), k, false, packed, backward.data(), n, sigmoid, PanelOrder::kBackward);
    EXPECT_EQ(forward, backward) << n << " columns, " << k << " deep";
  }
}

TEST_P(GemmF32, EverySmallHeightAndWidth) {
  for (int64_t m = 1; m <= 19; ++m) {
    for (int64_t n : {1, 2, 3, 15, 16, 17, 31, 33, 47, 48, 49, 64, 65, 97, 113}) {
      check({m, n, 9, false, false, {}}, true, false, 0);
      check({m, n, 5, false, false, {}}, false, false, 1);
    }
  }
}

TEST_P(GemmF32, RandomShapesAndEpilogues) {
  for (int round = 0; round < 300; ++round) {
    const int64_t high = round % 10 == 0 ? 300 : 60;
    const Case t{integer(1, high),   integer(1, high),   integer(0, round % 7 == 0 ? 700 : 50),
                 integer(0, 1) == 1, integer(0, 1) == 1, random_epilogue()};
    check(t, integer(0, 1) == 1, integer(0, 1) == 1, integer(0, 3));
    if (HasFatalFailure()) return;
  }
}

// More rows and columns of A than caches keep, so that products go across panels block by block of k.
TEST_P(GemmF32, TallAndDeep) {
  for (bool packed : {false, true}) {
    for (bool threads : {false, true}) {
      for (int round = 0; round < 2; ++round)
        check({300, 60, 1000, false, !packed, random_epilogue()}, packed, threads, 1);
    }
  }
}

TEST_P(GemmF32, OneRowAndOneColumn) {
  for (bool packed : {false, true}) {
    for (bool trans_b : {false, true}) {
      check({1, 1000, 300, false, trans_b, random_epilogue()}, packed, true, 0);
      check({1, 70, 64, true, trans_b, random_epilogue()}, packed, true, 0);
      check({1000, 1, 300, false, trans_b, random_epilogue()}, packed, true, 0);
      check({1, 1, 5, false, trans_b, random_epilogue()}, packed, false, 2);
      check({1, 1, 0, false, trans_b, random_epilogue()}, packed, false, 0);
    }
  }
}

TEST_P(GemmF32, EmptyResultsAreLeftAlone) {
  float c = 7;
  gemm(nullptr, 0, 4, 4, nullptr, 4, false, nullptr, 4, false, &c, 4, {});
  gemm(nullptr, 4, 0, 4, nullptr, 4, false, nullptr, 4, false, &c, 4, {});
  const PackedMatrix none = pack_b(nullptr, 3, 0, nullptr, 0, false);
  gemm(nullptr, 4, nullptr, 3, false, none, &c, 4, {});
  EXPECT_EQ(c, 7);
}

TEST_P(GemmF32, NonFiniteValuesStayInTheirRow) {
  const int64_t m = 9, n = 50, k = 30;
  std::vector<float> a = normal(m * k), b = normal(k * n), c(m * n);
  a[3 * k + 5] = NAN;
  a[4 * k + 5] = INFINITY;
  const PackedMatrix packed = pack_b(nullptr, k, n, b.data(), n, false);
  gemm(nullptr, m, a.data(), k, false, packed, c.data(), n, {.activation = {UnaryOp::kRelu}});
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      if (i == 3) {
        ASSERT_TRUE(std::isnan(c[i * n + j]));
      }
      if (i == 4) {
        ASSERT_TRUE(c[i * n + j] == INFINITY || c[i * n + j] == 0);
      }
      if (i != 3 && i != 4) {
        ASSERT_TRUE(std::isfinite(c[i * n + j]));
      }
    }
  }
}

TEST_P(GemmF32, ThreadsDoNotChangeResults) {
  struct Shape {
    int64_t m, n, k;
  };
  for (const auto& [m, n, k] :
       std::vector<Shape>{{200, 300, 777}, {300, 100, 1000}, {130, 500, 400}, {1, 900, 500}, {5, 33, 2000}}) {
    const std::vector<float> a = normal(m * k), b = normal(k * n);
    std::vector<float> columns(b.size()), c(m * n), d(m * n);
    for (int64_t i = 0; i < k * n; ++i) columns[i % n * k + i / n] = b[i];
    const PackedMatrix packed = pack_b(nullptr, k, n, b.data(), n, false);
    const auto multiply = [&](base::ThreadPool* pool, int form, std::vector<float>& to) {
      std::fill(to.begin(), to.end(), NAN);
      if (form == 0) return gemm(pool, m, a.data(), k, false, packed, to.data(), n, {});
      const float* right = form == 1 ? b.data() : columns.data();
      gemm(pool, m, n, k, a.data(), k, false, right, form == 1 ? n : k, form == 2, to.data(), n, {});
    };
    for (int form = 0; form < 3; ++form) {
      multiply(nullptr, form, c);
      for (int threads : kThreadCounts) {
        multiply(&pool_of(threads), form, d);
        EXPECT_EQ(c, d) << threads << " threads, form " << form << ", " << m << 'x' << n << 'x' << k;
      }
    }
  }
}

TEST_P(GemmF32, ThreadsDoNotChangeALastRow) {
  for (int64_t m : {17, 25, 33, 49, 65, 97}) {
    for (int64_t n : {16, 65, 130}) {
      const int64_t k = integer(1, 90);
      const std::vector<float> a = normal(m * k), b = normal(k * n);
      std::vector<float> c(m * n), d(m * n);
      gemm(nullptr, m, n, k, a.data(), k, false, b.data(), n, false, c.data(), n, {});
      for (int threads : kThreadCounts) {
        gemm(&pool_of(threads), m, n, k, a.data(), k, false, b.data(), n, false, d.data(), n, {});
        EXPECT_EQ(c, d) << threads << " threads, " << m << " x " << n << " x " << k;
      }
    }
  }
}

struct BatchCase {
  int64_t m, n, k;
};

class GemmF32Batches : public GemmF32 {
 protected:
  void expect_same_for_all_threads(const BatchCase& size);
};

void GemmF32Batches::expect_same_for_all_threads(const BatchCase& size) {
  const auto [m, n, k] = size;
  const int64_t count = 3, residual_stride = n + 5;
  const std::vector<float> a = normal(count * m * k), b = normal(count * k * n), bias = normal(m);
  for (int form = 0; form < 4; ++form) {
    std::vector<float> c(count * m * n), d(c.size());
    const std::vector<float> residual = normal(count * m * residual_stride);
    GemmBatch g;
    g.count = count, g.m = m, g.n = n, g.k = k;
    g.trans_a = form & 1, g.trans_b = form & 2;
    g.a = a.data(), g.lda = g.trans_a ? m : k, g.stride_a = m * k;
    g.b = b.data(), g.ldb = g.trans_b ? k : n, g.stride_b = k * n;
    g.ldc = n, g.stride_c = m * n;
    Epilogue epilogue{.alpha = 0.5f};
    epilogue.bias_kind = BiasKind::kRow;
    epilogue.bias = bias.data();
    epilogue.residual = residual.data();
    epilogue.residual_stride = residual_stride;
    g.c = c.data();
    gemm_batched(nullptr, g, epilogue);
    g.c = d.data();
    for (int threads : kThreadCounts) {
      std::fill(d.begin(), d.end(), NAN);
      gemm_batched(&pool_of(threads), g, epilogue);
      EXPECT_EQ(c, d) << threads << " threads, form " << form;
    }
    const int64_t row = 77, column = 31;  // of the second product
    double want = bias[row] + residual[m * n + row * residual_stride + column];
    for (int64_t x = 0; x < k; ++x) {
      want += 0.5 * a[m * k + (g.trans_a ? x * m + row : row * k + x)] *
              b[k * n + (g.trans_b ? column * k + x : x * n + column)];
    }
    EXPECT_NEAR(c[(m + row) * n + column], want, 1e-4) << "form " << form;
  }
}

TEST_P(GemmF32Batches, ThreadsDoNotChangeResults) { expect_same_for_all_threads({129, 140, 96}); }

// On tiles each product gains, but a part of its rows alone would not.
TEST_P(GemmF32Batches, ThreadsDoNotChangeHowProductsAreComputed) { expect_same_for_all_threads({256, 256, 64}); }

TEST_P(GemmF32, PanelOrderDoesNotChangeResults) {
  for (int64_t m : {1, 3, 150, 300}) {
    const int64_t n = 301, k = m == 300 ? 1000 : 600;
    const std::vector<float> a = normal(m * k), b = normal(k * n);
    const PackedMatrix packed = pack_b(nullptr, k, n, b.data(), n, false);
    std::vector<float> c(m * n), d(m * n);
    gemm(nullptr, m, a.data(), k, false, packed, c.data(), n, {});
    gemm(&two_threads(), m, a.data(), k, false, packed, d.data(), n, {}, PanelOrder::kBackward);
    EXPECT_EQ(c, d);
  }
}

TEST_P(GemmF32, BatchesWithStridesBroadcastAndOffsets) {
  const int64_t count = 6, m = 7, n = 20, k = 11;
  const std::vector<float> a = normal(count * m * k), b = normal(count * k * n);
  const int64_t offsets[] = {3 * k * n, 0, 5 * k * n, 2 * k * n, 2 * k * n, k * n};
  for (int form = 0; form < 3; ++form) {
    GemmBatch g;
    g.count = count, g.m = m, g.n = n, g.k = k;
    g.a = a.data(), g.lda = k, g.stride_a = m * k;
    g.b = b.data(), g.ldb = n, g.stride_b = form == 1 ? 0 : k * n;
    if (form == 2) g.offsets_b = offsets;
    std::vector<float> c(count * m * n, 77);
    g.c = c.data(), g.ldc = n, g.stride_c = m * n;
    gemm_batched(&two_threads(), g, {.alpha = 0.5f});
    for (int64_t i = 0; i < count * m * n; ++i) {
      const int64_t item = i / (m * n), row = i / n % m, column = i % n;
      const float* right = b.data() + (form == 2 ? offsets[item] : item * g.stride_b);
      double want = 0;
      for (int64_t x = 0; x < k; ++x) want += 0.5 * a[item * m * k + row * k + x] * right[x * n + column];
      ASSERT_NEAR(c[i], want, 1e-5) << "form " << form << " at " << i;
    }
  }
}

ORTOLAN_FOR_EACH_ISA(GemmF32);
ORTOLAN_FOR_EACH_ISA(GemmF32Batches);

}  // namespace
}  // namespace ortolan::cpu::kernels
