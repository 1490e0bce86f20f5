// Tests of packed matrices whose elements take 16 bits: which do, and that products are the same bit for bit.
#include <algorithm>
#include <bit>

#include "cpu/kernels/elementwise/convert.h"
#include "cpu/kernels/products/gemm_f32.h"
#include "isa_test.h"
#include "pools.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr PackedElement kShorts[] = {PackedElement::kBfloat16, PackedElement::kHalf};

class GemmPackF32 : public IsaTest {
 protected:
  /** Values that the element holds; with `odd`, all kinds of them. */
  std::vector<float> values(PackedElement element, int64_t count, bool odd = false) {
    std::vector<float> v = normal(count);
    std::vector<uint16_t> shorts(count);
    for (float& x : v) {
      if (odd && integer(0, 4) == 0) x = std::ldexp(x, static_cast<int>(integer(-160, 120)));
      if (odd && integer(0, 2000) == 0) x = integer(0, 1) != 0 ? INFINITY : NAN;
    }
    const bool half = element == PackedElement::kHalf;
    half ? float_to_half(v.data(), shorts.data(), count) : float_to_bfloat16(v.data(), shorts.data(), count);
    half ? half_to_float(shorts.data(), v.data(), count) : bfloat16_to_float(shorts.data(), v.data(), count);
    return v;
  }

  /** Columns, some of which hold nothing but tiny or huge values. */
  std::vector<float> odd_values(PackedElement element, int64_t k, int64_t n) {
    std::vector<float> v = values(element, k * n, true);
    if (element == PackedElement::kHalf) return v;
    for (int64_t i = 0; i < k * n; ++i) {
      if (i % n % 5 == 1) v[i] = std::ldexp(v[i], -20);
      if (i % n % 5 == 2) v[i] = std::ldexp(v[i], 90);
      v[i] = std::bit_cast<float>(std::bit_cast<uint32_t>(v[i]) & 0xffff0000);
    }
    return v;
  }

  static PackedMatrix packed(const std::vector<float>& b, int64_t k, int64_t n, bool trans_b, PackedForm form) {
    return pack_b(&two_threads(), k, n, b.data(), trans_b ? k : n, trans_b, nullptr, form);
  }

  /** One NaN is as good as another. */
  static bool same(float x, float y) {
    return (std::isnan(x) && std::isnan(y)) || std::bit_cast<uint32_t>(x) == std::bit_cast<uint32_t>(y);
  }

  void expect_same(PackedElement element, int64_t m, int64_t n, int64_t k, bool odd) {
    const bool trans_b = integer(0, 1) != 0;
    const std::vector<float> b = odd && !trans_b ? odd_values(element, k, n) : values(element, k * n, odd);
    const std::vector<float> a = normal(m * k), bias = normal(n);
    Epilogue epilogue;
    epilogue.bias_kind = BiasKind::kColumn;
    epilogue.bias = bias.data();
    const PackedMatrix floats = packed(b, k, n, trans_b, PackedForm::kFloats);
    const PackedMatrix shorts = packed(b, k, n, trans_b, PackedForm::kShortest);
    ASSERT_EQ(floats.element(), PackedElement::kFloat);
    ASSERT_EQ(shorts.element(), element);
    ASSERT_EQ(2 * shorts.bytes(), floats.bytes());
    std::vector<float> want(m * n), found(m * n);
    for (PanelOrder order : {PanelOrder::kForward, PanelOrder::kBackward}) {
      gemm(nullptr, m, a.data(), k, false, floats, want.data(), n, epilogue, order);
      for (base::ThreadPool* pool : {static_cast<base::ThreadPool*>(nullptr), &two_threads()}) {
        gemm(pool, m, a.data(), k, false, shorts, found.data(), n, epilogue, order);
        ASSERT_TRUE(std::equal(want.begin(), want.end(), found.begin(), same))
            << m << 'x' << n << 'x' << k << " of kind " << static_cast<int>(element) << (odd ? ", odd" : "");
      }
    }
  }
};

TEST_P(GemmPackF32, ShortElementsGiveTheSameBits) {
  for (PackedElement element : kShorts) {
    for (int64_t k : {3, 64, 257, 900}) {
      for (int64_t n : {2, 17, 48, 100}) {
        for (int64_t m : {1, 2, 7, 33, 70}) expect_same(element, m, n, k, false);
      }
    }
  }
}

TEST_P(GemmPackF32, OddValuesGiveTheSameBits) {
  for (PackedElement element : kShorts) {
    for (int64_t m : {1, 5, 64}) expect_same(element, m, 83, 800, true);
  }
}

TEST_P(GemmPackF32, OneElementDecides) {
  const int64_t k = 70, n = 45;
  for (PackedElement element : kShorts) {
    std::vector<float> b = values(element, k * n);
    for (int64_t at : {int64_t{0}, k * n / 2, k * n - 1}) {
      const float before = b[at];
      b[at] = 1 + 0x1p-20f;
      for (bool trans_b : {false, true}) {
        EXPECT_EQ(packed(b, k, n, trans_b, PackedForm::kShortest).element(), PackedElement::kFloat) << at;
      }
      b[at] = before;
    }
    EXPECT_EQ(packed(b, k, n, false, PackedForm::kShortest).element(), element);
  }
}

TEST_P(GemmPackF32, EmptyAndNarrowMatrices) {
  for (auto [k, n] : {std::pair<int64_t, int64_t>{0, 3}, {3, 0}, {5, 1}}) {
    const std::vector<float> b(k * n, 1.0f), a(5, 2.0f);
    const PackedMatrix shortest = packed(b, k, n, false, PackedForm::kShortest);
    EXPECT_EQ(shortest.element(), PackedElement::kFloat);
    std::vector<float> c(n, -1);
    gemm(nullptr, 1, a.data(), k, false, shortest, c.data(), n, {});
    for (float x : c) EXPECT_EQ(x, 2.0f * static_cast<float>(k));
  }
}

ORTOLAN_FOR_EACH_ISA(GemmPackF32);

}  // namespace
}  // namespace ortolan::cpu::kernels
