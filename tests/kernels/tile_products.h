// Products on tiles for tests: operands, how exact results are, and a fixture that uses the tiles of this processor.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "base/threads/run_scope.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/products/gemm_f32.h"
#include "cpu/kernels/products/gemm_f32_product.h"
#include "cpu/kernels/products/split_f32_kernels.h"
#include "guarded.h"
#include "isa_test.h"
#include "pools.h"

namespace ortolan::cpu::kernels::tile_products {

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

// Of an operand, at most, on the tiles in use.
inline int most_slices() { return most_slices(*kernels().split_f32); }

// Computed on tiles whatever gemm would choose.
inline std::vector<float> product(const Operands& t, GemmRightForm form = GemmRightForm::kPacked,
                                  base::ThreadPool* pool = nullptr) {
  std::vector<float> c(t.m * t.n, NAN), columns(form == GemmRightForm::kColumns ? t.b.size() : 0);
  for (size_t i = 0; i < columns.size(); ++i) columns[i % t.n * t.k + i / t.n] = t.b[i];
  const PackedMatrix packed = pack_b(pool, t.k, t.n, t.b.data(), t.n, false);
  GemmRight b = packed_right(packed);
  if (form == GemmRightForm::kRows) b = {t.b.data(), form, t.n};
  if (form == GemmRightForm::kColumns) b = {columns.data(), form, t.k};
  const Epilogue epilogue;
  multiply_on_tiles(pool, {t.m, t.n, t.k, {t.a.data(), t.k}, b, c.data(), t.n, epilogue, packed.kernels()},
                    most_slices());
  return c;
}

// Computed as gemm chooses.
inline std::vector<float> chosen_product(const Operands& t) {
  std::vector<float> c(t.m * t.n, NAN);
  gemm(nullptr, t.m, t.n, t.k, t.a.data(), t.k, false, t.b.data(), t.n, false, c.data(), t.n, {});
  return c;
}

// One chain of fp32 multiply-adds for each sum.
inline std::vector<float> plain_product(const Operands& t) {
  std::vector<float> c(t.m * t.n);
  for (int64_t i = 0; i < t.m; ++i) {
    for (int64_t x = 0; x < t.k; ++x) {
      for (int64_t j = 0; j < t.n; ++j) c[i * t.n + j] = std::fma(t.a[i * t.k + x], t.b[x * t.n + j], c[i * t.n + j]);
    }
  }
  return c;
}

inline GemmRightForm form_of(int64_t i) {
  const GemmRightForm forms[] = {GemmRightForm::kPacked, GemmRightForm::kRows, GemmRightForm::kColumns};
  return forms[i % 3];
}

// What six products are proven to keep to, in units of the last place of the sum of magnitudes; one lacks half a unit
// of the eighth place of each factor.
inline double bound(int64_t k) {
  if (most_slices() == 1) return 0x1.02p17 + 2 * static_cast<double>(k);
  return 19 + 1.04 * static_cast<double>((std::min<int64_t>(k, 768) + 31) / 32) + static_cast<double>((k + 767) / 768);
}

struct Errors {
  double rms = 0, worst = 0;
};

inline Errors errors_of(const Operands& t, const std::vector<float>& c) {
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
    if (most_slices() == 1) precision_.emplace(base::RunScope{Fp32Precision::kBf16});
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
  std::optional<ScopedRunScope> precision_;
};

}  // namespace ortolan::cpu::kernels::tile_products
