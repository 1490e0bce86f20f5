// Tests of products by outer products (SME): equal to plain arithmetic bit for bit, for any length of the streaming
// vectors, and good neighbours of callers that use ZA themselves. In qemu where the processor lacks them.
#if defined(__aarch64__)

#include "cpu/kernels/products/gemm_sme.h"

#include <sys/prctl.h>

#include <thread>

#include "base/threads/run_scope.h"
#include "cpu/kernels/products/gemm_f32.h"
#include "isa_test.h"

#if !defined(PR_SME_SET_VL)
#define PR_SME_SET_VL 63
#endif

namespace ortolan::cpu::kernels {
namespace generic {
extern const GemmF32Kernels kGemmF32;
}
namespace {

constexpr int kLanes[] = {4, 8, 16, 32};

class GemmSme : public IsaTest {};
INSTANTIATE_TEST_SUITE_P(Isa, GemmSme, testing::Values(base::IsaLevel::kSme),
                         [](const auto& info) { return base::isa_name(info.param); });

// What `run` does on a thread whose streaming vectors have so many floats; false where the processor has none such.
template <class Run>
bool run_with_lanes(int lanes, Run run) {
  bool set = false;
  std::thread([&] {
    set = prctl(PR_SME_SET_VL, lanes * 4) >= 0 && base::streaming_bytes(base::IsaLevel::kSme) == lanes * 4;
    if (set) run();
  }).join();
  return set;
}

struct Shape {
  int64_t m, n, k;
  bool trans_a, trans_b;
};

// Tiles and vectors that are whole, begun and lone, sums of one block and of several.
constexpr Shape kShapes[] = {{1, 1, 1, false, false},     {2, 3, 4, false, false},    {7, 8, 9, false, true},
                             {8, 16, 3, true, false},     {16, 16, 16, false, false}, {17, 33, 257, false, true},
                             {31, 65, 64, true, true},    {32, 129, 5, false, false}, {65, 64, 300, false, false},
                             {100, 200, 31, true, false}, {35, 37, 1029, false, true}};

struct Product {
  Product(const Shape& given, std::vector<float> left, std::vector<float> right, std::vector<float> before)
      : shape(given), a(std::move(left)), b(std::move(right)), c(std::move(before)) {}
  const Shape& shape;
  std::vector<float> a, b, c;

  void run(const GemmF32Kernels* kernels, const Epilogue& epilogue) {
    gemm(nullptr, shape.m, shape.n, shape.k, a.data(), shape.trans_a ? shape.m : shape.k, shape.trans_a, b.data(),
         shape.trans_b ? shape.k : shape.n, shape.trans_b, c.data(), shape.n, epilogue, kernels);
  }
  void run_packed(const GemmF32Kernels* kernels, const Epilogue& epilogue) {
    const PackedMatrix packed =
        pack_b(nullptr, shape.k, shape.n, b.data(), shape.trans_b ? shape.k : shape.n, shape.trans_b, kernels);
    gemm(nullptr, shape.m, a.data(), shape.trans_a ? shape.m : shape.k, shape.trans_a, packed, c.data(), shape.n,
         epilogue);
  }
};

// Rows alone are summed otherwise: in four parts by NEON, as one by outer products where they are not packed.
bool is_summed_alike(const Shape& shape) { return shape.m > 1 && shape.n > 1; }

TEST_P(GemmSme, SumsAreThoseOfPlainArithmeticForAnyLengthOfVectors) {
  int lengths = 0;
  for (const int lanes : kLanes) {
    const GemmF32Kernels* kernels = sme::gemm_f32_of(lanes);
    lengths += run_with_lanes(lanes, [&] {
      for (const Shape& shape : kShapes) {
        if (!is_summed_alike(shape)) continue;
        const std::vector<float> column_bias = normal(shape.n), residual = normal(shape.m * shape.n);
        Epilogue epilogue{.alpha = 1.5f, .beta = 0.5f, .bias_kind = BiasKind::kColumn, .bias = column_bias.data()};
        epilogue.residual = residual.data();
        epilogue.residual_stride = shape.n;
        epilogue.activation = {UnaryOp::kClip, -2, 3};
        Product plain(shape, normal(shape.m * shape.k), normal(shape.k * shape.n), normal(shape.m * shape.n));
        Product outer = plain, packed = plain;
        // Longer sums run in other blocks than those of plain kernels; vectors of another length have the same ones.
        plain.run(shape.k <= kLongestSum ? &generic::kGemmF32 : sme::gemm_f32_of(lanes == 4 ? 8 : 4), epilogue);
        outer.run(kernels, epilogue);
        packed.run_packed(kernels, epilogue);
        EXPECT_EQ(outer.c, plain.c) << lanes << " lanes, " << shape.m << "x" << shape.n << "x" << shape.k;
        EXPECT_EQ(packed.c, plain.c) << lanes << " lanes, " << shape.m << "x" << shape.n << "x" << shape.k;
      }
    });
  }
  EXPECT_GT(lengths, 0);
}

TEST_P(GemmSme, RowsBecomeColumnsAndNothingBesideIsWritten) {
  struct Case {
    int64_t k, columns, width;
  };
  constexpr Case kCases[] = {{1, 1, 1},    {1, 3, 16},    {5, 7, 8},     {4, 16, 16},   {33, 12, 12},
                             {64, 20, 32}, {129, 40, 40}, {31, 65, 128}, {260, 17, 32}, {300, 1, 64}};
  const auto* kernels = sme::gemm_f32_of(8);
  for (const int lanes : kLanes) {
    run_with_lanes(lanes, [&] {
      for (const Case& c : kCases) {
        const int64_t stride = c.k + 3;
        const std::vector<float> from = normal(c.columns * stride - 3);
        std::vector<float> expected(c.k * c.width + 1, -7), found = expected;
        generic::kGemmF32.pack_panel_transposed(from.data(), stride, c.k, c.columns, c.width, expected.data());
        kernels->pack_panel_transposed(from.data(), stride, c.k, c.columns, c.width, found.data());
        EXPECT_EQ(found, expected) << lanes << " lanes, " << c.k << " of " << c.columns << " in " << c.width;
      }
    });
  }
}

TEST_P(GemmSme, EachStepOfTheFinishAloneIsDone) {
  const GemmF32Kernels& kernels = *sme::gemm_f32_of(base::cpu_features().streaming_bytes / 4);
  const Shape shape{37, 41, 19, false, false};
  const std::vector<float> rows = normal(shape.m), columns = normal(shape.n), residual = normal(shape.m * shape.n);
  const float one = 0.75f;
  Epilogue epilogues[8];
  epilogues[1].alpha = -0.5f;
  epilogues[2].beta = 2;
  epilogues[3].bias_kind = BiasKind::kColumn, epilogues[3].bias = columns.data();
  epilogues[4].bias_kind = BiasKind::kRow, epilogues[4].bias = rows.data();
  epilogues[5].bias_kind = BiasKind::kScalar, epilogues[5].bias = &one;
  epilogues[6].residual = residual.data(), epilogues[6].residual_stride = shape.n;
  epilogues[7].activation = {UnaryOp::kRelu};
  for (const Epilogue& epilogue : epilogues) {
    Product plain(shape, normal(shape.m * shape.k), normal(shape.k * shape.n), normal(shape.m * shape.n));
    plain.a[3] = NAN;
    plain.a[2 * shape.k + 1] = INFINITY;
    Product outer = plain;
    plain.run(&generic::kGemmF32, epilogue);
    outer.run(&kernels, epilogue);
    for (size_t i = 0; i < plain.c.size(); ++i) {
      ASSERT_TRUE(outer.c[i] == plain.c[i] || (std::isnan(outer.c[i]) && std::isnan(plain.c[i])))
          << "epilogue " << &epilogue - epilogues << " at " << i << ": " << outer.c[i] << ", " << plain.c[i];
    }
  }
}

TEST_P(GemmSme, AThreadWithVectorsOfAnotherLengthComputesTheSame) {
  const Shape shape{45, 50, 250, false, false};
  const Product given(shape, normal(shape.m * shape.k), normal(shape.k * shape.n), normal(shape.m * shape.n));
  Product plain = given;
  plain.run(&generic::kGemmF32, {});
  for (const int lanes : kLanes) {
    run_with_lanes(lanes, [&] {
      for (const int others : kLanes) {
        Product outer = given;
        outer.run_packed(sme::gemm_f32_of(others), {});
        EXPECT_EQ(outer.c, plain.c) << others << " on a thread with " << lanes;
      }
    });
  }
}

TEST_P(GemmSme, ProductsOfBfloat16AreThoseOfOtherPanels) {
  const Shape shape{96, 132, 500, false, false};
  const Product given(shape, normal(shape.m * shape.k), normal(shape.k * shape.n), normal(shape.m * shape.n));
  const base::ScopedRunScope scope({base::Fp32Precision::kBf16});
  Product narrow = given, wide = given;
  use_isa(base::IsaLevel::kI8mm);
  narrow.run_packed(nullptr, {});
  use_isa(base::IsaLevel::kSme);
  EXPECT_STREQ(gemm_isa(shape.m, shape.n, shape.k), "i8mm bf16");
  wide.run_packed(nullptr, {});
  EXPECT_EQ(wide.c, narrow.c);
}

// What a caller whose ZA is to outlive calls says of it (TPIDR2_EL0).
struct LazySave {
  void* buffer;
  uint16_t slices;
  uint8_t reserved[6];
};

TEST_P(GemmSme, ACallersZaIsSavedWhereItAsksForThat) {
  const int bytes = base::cpu_features().streaming_bytes;
  std::vector<uint8_t> saved(static_cast<size_t>(bytes) * bytes + 1, 0xee), row(bytes);
  for (int i = 0; i < bytes; ++i) row[i] = static_cast<uint8_t>(i + 1);
  const LazySave save{saved.data(), static_cast<uint16_t>(bytes), {}};
  const Shape shape{20, 20, 20, false, false};
  Product plain(shape, normal(400), normal(400), normal(400)), outer = plain;
  plain.run(&generic::kGemmF32, {});
  asm volatile(
      ".arch_extension sme\n\tsmstart za\n\tmov w12, #0\n"
      "1: ldr za[w12, #0], [%0]\n\tadd w12, w12, #1\n\tcmp w12, %w1\n\tb.lt 1b\n\tmsr tpidr2_el0, %2" ::"r"(row.data()),
      "r"(bytes), "r"(&save)
      : "x12", "cc", "memory");
  outer.run(sme::gemm_f32_of(bytes / 4), {});
  uint64_t asked, state;
  asm volatile("mrs %0, tpidr2_el0\n\tmrs %1, svcr" : "=r"(asked), "=r"(state));
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(state, 0);
  EXPECT_EQ(outer.c, plain.c);
  for (int i = 0; i < bytes * bytes; ++i) ASSERT_EQ(saved[i], row[i % bytes]) << i;
  EXPECT_EQ(saved.back(), 0xee);
}

}  // namespace
}  // namespace ortolan::cpu::kernels

#endif
