// Tests of integer products and convolution against 64-bit sums, on every instruction set: results must be exact.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "conv_int8_reference.h"
#include "cpu/kernels/convolution_int8/conv_int8.h"
#include "cpu/kernels/convolution_int8/conv_int8_weights.h"
#include "cpu/kernels/convolution_int8/depthwise_int8.h"
#include "cpu/kernels/elementwise/convert.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/quantised/gemm_int8.h"
#include "pools.h"

namespace ortolan::cpu::kernels {
namespace {

class Int8 : public ByteTest {
 protected:
  /** Operands of a product of some form, a number whose bits are choices, and its exact sums. */
  struct Form {
    int64_t m, n, k;
    bool a_signed, b_signed, trans_a, trans_b;
    std::vector<uint8_t> a, b, a_zero, b_zero;
    ZeroPoints zeros;

    ByteMatrix left() const { return {a.data(), trans_a ? m : k, trans_a, a_signed}; }
    ByteMatrix right() const { return {b.data(), trans_b ? k : n, trans_b, b_signed}; }
    int64_t sum(int64_t i, int64_t j) const {
      const int64_t za = zeros.a ? value(a_zero[zeros.a_per_row ? i : 0], a_signed) : 0;
      const int64_t zb = zeros.b ? value(b_zero[zeros.b_per_column ? j : 0], b_signed) : 0;
      int64_t sum = 0;
      for (int64_t x = 0; x < k; ++x) {
        sum += (value(a[trans_a ? x * m + i : i * k + x], a_signed) - za) *
               (value(b[trans_b ? j * k + x : x * n + j], b_signed) - zb);
      }
      return sum;
    }
  };
  Form make_form(int64_t m, int64_t n, int64_t k, int form) {
    Form f{m,
           n,
           k,
           (form & 1) != 0,
           (form & 2) != 0,
           (form & 4) != 0,
           (form & 8) != 0,
           bytes(m * k),
           bytes(k * n),
           bytes(m),
           bytes(n),
           {}};
    f.zeros.a_per_row = form & 32;
    f.zeros.b_per_column = form & 64;
    if (form & 128) f.zeros.a = f.a_zero.data();
    if (form & 256) f.zeros.b = f.b_zero.data();
    return f;
  }

  void check_product(int64_t m, int64_t n, int64_t k, int form) { check_product(make_form(m, n, k, form), form); }

  void check_product(const Form& f, int form) {
    const int64_t m = f.m, n = f.n, k = f.k;
    std::vector<int32_t> c(m * n, 77);
    if (form & 16) {
      const PackedMatrixInt8 matrix = pack_b_int8(&two_threads(), k, n, f.right());
      gemm_int8(&two_threads(), m, f.left(), matrix, f.zeros, c.data(), n);
    } else {
      gemm_int8(form & 1 ? &two_threads() : nullptr, m, f.left(), {k, n, f.right()}, f.zeros, c.data(), n);
    }
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        ASSERT_EQ(c[i * n + j], f.sum(i, j))
            << m << "x" << n << "x" << k << " form " << form << " at " << i << "," << j;
      }
    }
  }

  /** The same as floats; bits from 512 on choose the epilogue. */
  void check_floats(int64_t m, int64_t n, int64_t k, int form) {
    const Form f = make_form(m, n, k, form);
    const auto scale = normal(n, 1e-3f), bias = normal(n), residual = normal(m * (n + 3));
    SumEpilogue e;
    e.scale = scale.data();
    e.scale_per_column = form & 512;
    if (form & 1024) e.bias = bias.data();
    if (form & 2048) e.residual = residual.data(), e.residual_stride = n + 3;
    if (form & 4096) e.activation.op = UnaryOp::kGelu;
    if (form & 8192) e.activation.op = UnaryOp::kTanh;
    ValueRange range, want_range;
    if (form & 3) e.range = &range;
    const int64_t ldy = n + 1;
    std::vector<float> y(m * ldy, 77);
    const PackedMatrixInt8 matrix = pack_b_int8(nullptr, k, n, f.right());
    const RightInt8 right = form & 16 ? RightInt8(matrix) : RightInt8(k, n, f.right());
    gemm_int8_to_float(form & 1 ? &two_threads() : nullptr, m, f.left(), right, f.zeros, e, y.data(), ldy);
    for (int64_t i = 0; i < m; ++i) {
      ASSERT_EQ(y[i * ldy + n], 77);
      for (int64_t j = 0; j < n; ++j) {
        const double sum = static_cast<double>(f.sum(i, j)), factor = scale[e.scale_per_column ? j : 0];
        double want = sum * factor + (e.bias ? bias[j] : 0.0);
        const double size = std::abs(sum * factor) + std::abs(want) + 8;
        if (e.residual) want += residual[i * (n + 3) + j];
        if (form & 8192) {
          want = std::tanh(want);
        } else if (form & 4096) {
          want = want / 2 * (1 + std::erf(want / std::sqrt(2.0)));
        }
        want_range.include({y[i * ldy + j], y[i * ldy + j]});
        ASSERT_NEAR(y[i * ldy + j], want, 2e-7 * size)
            << m << "x" << n << "x" << k << " form " << form << " at " << i << "," << j;
      }
    }
    if (!e.range) return;
    ASSERT_EQ(range.low, want_range.low) << m << "x" << n << "x" << k << " form " << form;
    ASSERT_EQ(range.high, want_range.high) << m << "x" << n << "x" << k << " form " << form;
  }
};

TEST_P(Int8, ProductsOfEveryForm) {
  for (int form = 0; form < 512 && !HasFatalFailure(); ++form) {
    check_product(integer(1, 20), integer(1, 70), integer(0, 40), form);
  }
  for (int64_t m = 1; m < 18; ++m) check_product(m, 97, 33, 16);
  for (int packed : {0, 16}) check_product(150, 50, 300, packed + 2);
  check_product(1, 200, 256, 16 + 2 + 128);
  for (int signs = 0; signs < 4; ++signs) {  // rows read in place, and a last band of few of them
    check_product(133, 40, 128, signs + 16 + 128 + 256);
    check_product(37, 17, 64, signs + 16);
  }
}

// None too large for sums of pairs in 16 bits, some, and too many; the left operand is often as large as can be.
// Up to how large weights are, and how often they are larger: four neighbours' products fit 16 bits, most do, two do.
constexpr std::pair<int64_t, double> kWeightSizes[] = {{30, 0.0},  {30, 0.002}, {30, 0.01}, {45, 0.0},
                                                       {45, 0.01}, {64, 0.0},   {30, 0.3}};

TEST_P(Int8, ProductsOfSmallAndLargeWeights) {
  for (const auto& [most, often] : kWeightSizes) {
    for (int round = 0; round < 64 && !HasFatalFailure(); ++round) {
      const int form = round % 16 + 16 + (round & 1 ? 128 : 256);
      Form f = make_form(integer(1, 15), integer(1, 70), integer(1, 300), form);
      f.b = mostly_small(f.k * f.n, f.b_signed, often, most);
      for (uint8_t& a : f.a) a = integer(0, 1) ? a : f.a_signed ? 127 : 255;
      check_product(f, form);
    }
  }
}

TEST_P(Int8, SmallWeightsOfPairsTakeLessMemory) {
  if (kernels().gemm_int8->of_weights == nullptr) GTEST_SKIP() << "has no kernels of weights";
  const int64_t k = 256, n = 64;
  const auto size = [&](double often) {
    const std::vector<uint8_t> weights = mostly_small(k * n, true, often);
    return pack_b_int8(nullptr, k, n, {weights.data(), n, false, true}).bytes();
  };
  EXPECT_EQ(size(0), size(0.001));
  EXPECT_LT(size(0), size(0.3));
}

TEST_P(Int8, FloatsOfEveryForm) {
  for (int round = 0; round < 1500 && !HasFatalFailure(); ++round) {
    check_floats(integer(1, 20), integer(1, 110), integer(0, 70), static_cast<int>(integer(0, 16383)));
  }
  for (int form = 0; form < 8192 && !HasFatalFailure(); form += 512) check_floats(131, 97, 300, form + 128 + 2);
}

// Packed before, by all threads first, and panel by panel; of many rows, of few, and of fewer panels than threads.
TEST_P(Int8, ProductsAreTheSameForEveryNumberOfThreads) {
  const int64_t sizes[][3] = {{300, 200, 130}, {64, 40, 2000}, {1, 1500, 256}, {40, 700, 128}, {517, 33, 64}};
  for (const auto& [m, n, k] : sizes) {
    for (int form : {0, 1 + 2 + 128, 2 + 4 + 8 + 128 + 256 + 32, 16 + 2 + 256 + 64, 16 + 4 + 1}) {
      const Form f = make_form(m, n, k, form);
      const PackedMatrixInt8 matrix = pack_b_int8(nullptr, k, n, f.right());
      const RightInt8 right = form & 16 ? RightInt8(matrix) : RightInt8(k, n, f.right());
      const auto scale = normal(n, 1e-3f), bias = normal(n);
      SumEpilogue e;
      e.scale = scale.data(), e.scale_per_column = true, e.bias = bias.data();
      e.activation.op = form & 2 ? UnaryOp::kGelu : UnaryOp::kTanh;
      std::vector<int32_t> want(m * n), sums(m * n);
      std::vector<float> want_floats(m * n), floats(m * n);
      gemm_int8(nullptr, m, f.left(), right, f.zeros, want.data(), n);
      gemm_int8_to_float(nullptr, m, f.left(), right, f.zeros, e, want_floats.data(), n);
      ASSERT_EQ(want[n - 1], f.sum(0, n - 1));
      ASSERT_EQ(want[m * n - 1], f.sum(m - 1, n - 1));
      for (int threads : kThreadCounts) {
        std::fill(sums.begin(), sums.end(), 77);
        gemm_int8(&pool_of(threads), m, f.left(), right, f.zeros, sums.data(), n);
        ASSERT_EQ(sums, want) << m << "x" << n << "x" << k << " form " << form << ", " << threads << " threads";
        gemm_int8_to_float(&pool_of(threads), m, f.left(), right, f.zeros, e, floats.data(), n);
        ASSERT_EQ(floats, want_floats) << m << "x" << n << "x" << k << " form " << form << ", " << threads
                                       << " threads";
      }
    }
  }
}

TEST_P(Int8, LongSums) {
  for (int64_t k : {511, 512, 520, 1031, 5003}) {
    for (int form = 0; form < 4; ++form) check_product(5, 20, k, form + 128 + 256 + (k % 2 ? 16 : 0));
  }
}

TEST_P(Int8, Requantizes) {
  const int64_t m = 3, n = 37;
  std::vector<int32_t> c(m * n), bias(n);
  for (int32_t& v : c) v = static_cast<int32_t>(integer(-3000, 3000));
  for (int32_t& v : bias) v = static_cast<int32_t>(integer(-300, 300));
  std::vector<float> scale(n), floats(m * n), float_bias = normal(n);
  for (float& v : scale) v = 0.01f * static_cast<float>(integer(1, 20));
  std::vector<uint8_t> u(m * n);
  std::vector<int8_t> s(m * n);
  requantize(nullptr, m, n, c.data(), n, bias.data(), scale.data(), true, 100, u.data(), n);
  requantize(nullptr, m, n, c.data(), n, nullptr, scale.data(), false, -5, s.data(), n);
  dequantize_sums(nullptr, m, n, c.data(), n, scale.data(), true, float_bias.data(), floats.data(), n);
  for (int64_t i = 0; i < m * n; ++i) {
    const int64_t j = i % n;
    const double first = std::nearbyint(static_cast<float>(c[i] + bias[j]) * scale[j]) + 100;
    ASSERT_EQ(u[i], std::clamp(first, 0.0, 255.0));
    const double second = std::nearbyint(static_cast<float>(c[i]) * scale[0]) - 5;
    ASSERT_EQ(s[i], std::clamp(second, -128.0, 127.0));
    ASSERT_NEAR(floats[i], double{static_cast<float>(c[i])} * scale[j] + float_bias[j], 1e-4);
  }
}

// Blocks of channels by positions, of every width, with sums and scales that leave the range of bytes and of integers.
TEST_P(Int8, RequantizesBlocks) {
  const int64_t rows = 5, ld = 150;
  std::vector<int32_t> c(rows * ld), column_sum(ld), row_add(rows), row_factor(rows);
  for (int32_t& v : c) v = static_cast<int32_t>(integer(0, 9) ? integer(-3000, 3000) : random_());
  for (int32_t& v : column_sum) v = static_cast<int32_t>(integer(-100, 100));
  for (int64_t i = 0; i < rows; ++i) row_add[i] = static_cast<int32_t>(integer(-9, 9)), row_factor[i] = i % 2 ? 3 : 0;
  const float scale[rows] = {0.05f, -0.5f, 1e30f, -INFINITY, NAN};
  for (int64_t columns = 1; columns < 140; ++columns) {
    const bool is_signed = columns % 2, by_row = columns % 3 != 0;
    const int32_t zero = is_signed ? -128 + static_cast<int32_t>(columns) : static_cast<int32_t>(columns);
    std::vector<uint8_t> y(rows * ld, 77);
    const ChannelSums sums{
        rows, columns, c.data(), ld, row_add.data(), row_factor.data(), columns % 5 ? column_sum.data() : nullptr};
    kernels().convert->requantize_block(sums, scale, by_row, zero, is_signed, y.data(), ld);
    for (int64_t i = 0; i < rows * ld; ++i) {
      const int64_t row = i / ld, j = i % ld;
      const uint32_t less = sums.column_sum == nullptr ? 0 : static_cast<uint32_t>(row_factor[row] * column_sum[j]);
      const auto sum = static_cast<int32_t>(static_cast<uint32_t>(c[i]) + static_cast<uint32_t>(row_add[row]) - less);
      const double scaled = std::nearbyint(static_cast<float>(sum) * scale[by_row ? row : 0]) + zero;
      const double low = is_signed ? -128 : 0;
      const double want = std::isnan(scaled) ? low : std::clamp(scaled, low, low + 255);
      ASSERT_EQ(value(y[i], is_signed), j < columns ? want : 77)
          << "row " << row << " column " << j << " of " << columns;
    }
  }
}

// Rows that are long, and few.
ConvGeometry wide() {
  ConvGeometry g = geometry(18, 18, 18, 250, 3, 1, 1, 1);
  g.in[1] = g.out[1] = 2;
  return g;
}

// [planes][positions] as [positions][planes], for each of `images`.
std::vector<uint8_t> channels_last(const std::vector<uint8_t>& x, int64_t images, int64_t planes) {
  std::vector<uint8_t> y(x.size());
  const int64_t image = static_cast<int64_t>(x.size()) / images, positions = image / planes;
  for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i) {
    const int64_t at = i % image;
    y[i / image * image + at % positions * planes + at / positions] = x[i];
  }
  return y;
}

TEST_P(Int8, DepthwiseChannelsLastIsTheSame) {
  for (const ConvGeometry& g :
       {geometry(16, 16, 16, 9, 3, 1, 1, 1), geometry(37, 37, 37, 8, 3, 2, 1, 1), geometry(64, 64, 64, 11, 5, 1, 2, 3),
        geometry(20, 20, 20, 3, 3, 1, 1, 4), geometry(17, 17, 17, 6, 1, 1, 1, 0),
        geometry(130, 130, 130, 6, 3, 2, 1, 1), geometry(70, 70, 70, 9, 7, 1, 1, 3), wide()}) {
    ASSERT_TRUE(takes_channels_last(g));
    for (int form = 0; form < 16; ++form) {
      const bool x_signed = form & 1, w_signed = form & 2, per_channel = form & 4, y_signed = form & 8;
      const auto x = bytes(g.batch * g.in_channels * g.in[1] * g.in[2]);
      const auto w = bytes(g.out_channels * g.kernel[1] * g.kernel[2]);
      auto w_zero = bytes(g.out_channels);
      if (form % 3 == 1) std::fill(w_zero.begin(), w_zero.end(), form % 2 == 0 ? 128 : 0);
      ConvInt8 operands{x.data(), x_signed, x_signed ? -7 : 130, form % 5 ? w_zero.data() : nullptr, per_channel};
      const PackedConvWeightsInt8 packed = pack_conv_weights_int8(g, w.data(), w_signed);
      std::vector<float> scale(g.out_channels);
      for (float& v : scale) v = 1e-4f * static_cast<float>(integer(1, 50));
      const std::vector<int32_t> bias(g.out_channels, 321);
      const Requantization after{form % 3 ? bias.data() : nullptr, scale.data(), per_channel, 9, y_signed};
      std::vector<uint8_t> q(g.batch * g.out_channels * g.out[1] * g.out[2]), r(q.size());
      if (y_signed) {
        qlinear_conv(&two_threads(), g, operands, packed, after.bias, scale.data(), per_channel, 9,
                     reinterpret_cast<int8_t*>(q.data()));
      } else {
        qlinear_conv(&two_threads(), g, operands, packed, after.bias, scale.data(), per_channel, 9, q.data());
      }
      const auto turned = channels_last(x, g.batch, g.in_channels);
      operands.x = turned.data();
      depthwise_channels_last(&two_threads(), g, operands, packed, after, r.data());
      ASSERT_EQ(channels_last(q, g.batch, g.out_channels), r) << "form " << form;
    }
  }
}

TEST_P(Int8, ConvolutionsAreExact) {
  const ConvGeometry geometries[] = {geometry(3, 8, 1, 12, 3, 1, 1, 1),
                                     geometry(16, 20, 1, 7, 1, 1, 1, 0),
                                     geometry(8, 12, 4, 10, 3, 2, 1, 1),
                                     geometry(6, 6, 6, 15, 3, 1, 2, 2),
                                     geometry(5, 7, 1, 9, 5, 3, 1, 2),
                                     geometry(130, 3, 1, 4, 3, 1, 1, 1),
                                     geometry(64, 50, 1, 6, 3, 2, 1, 1),
                                     geometry(70, 17, 1, 5, 3, 1, 2, 2),
                                     geometry(20, 33, 1, 20, 1, 1, 1, 0),
                                     geometry(96, 72, 2, 4, 3, 1, 1, 1),
                                     slices(8, 9, 1, 1),
                                     slices(4, 4, 4, 0),
                                     slices(64, 16, 1, 0)};
  for (const ConvGeometry& g : geometries) {
    for (int form = 0; form < 16; ++form) {
      const ConvForm f = conv_form(g, form);
      const PackedConvWeightsInt8 packed = pack_conv_weights_int8(g, f.w.data(), f.w_signed);
      expect_exact(f, packed);
    }
  }
}

// Whether products of a few weights and any bytes fit 16 bits decides how they are multiplied, and which are parted.
TEST_P(Int8, ConvolutionsOfMostlySmallWeightsAreExact) {
  const GemmInt8Kernels& any = kernels().gemm_int8->without_tiles();
  std::map<const GemmInt8Kernels*, int> taken;
  for (const ConvGeometry& g :
       {geometry(16, 20, 1, 7, 1, 1, 1, 0), geometry(8, 12, 4, 10, 3, 2, 1, 1), geometry(130, 13, 1, 4, 3, 1, 1, 1),
        geometry(3, 64, 1, 12, 7, 2, 1, 3), slices(8, 9, 1, 1)}) {
    for (const auto& [most, often] : kWeightSizes) {
      for (int form = 0; form < 16 && !HasFatalFailure(); ++form) {
        SCOPED_TRACE(testing::Message() << "up to " << most << ", larger " << often << ", form " << form);
        ConvForm f = conv_form(g, form);
        f.w = mostly_small(static_cast<int64_t>(f.w.size()), f.w_signed, often, most);
        for (uint8_t& x : f.x) x = integer(0, 1) ? x : f.x_signed ? 127 : 255;
        const PackedConvWeightsInt8 packed = pack_conv_weights_int8(g, f.w.data(), f.w_signed);
        expect_exact(f, packed);
        ++taken[packed.storage()->kernels];
      }
    }
  }
  for (const GemmInt8Kernels* kind = any.of_rows; kind != nullptr; kind = kind->simpler) EXPECT_GT(taken[kind], 0);
  EXPECT_GT(taken[&any], 0);
}

// Layers that threads part by positions, by channels and by images.
TEST_P(Int8, ConvolutionsAreTheSameForEveryNumberOfThreads) {
  for (const ConvGeometry& g :
       {geometry(16, 70, 1, 30, 3, 1, 1, 1), geometry(128, 300, 1, 6, 3, 1, 1, 1), geometry(40, 60, 2, 8, 3, 2, 1, 1),
        geometry(200, 90, 1, 14, 1, 1, 1, 0), geometry(24, 24, 24, 40, 3, 1, 1, 1), slices(20, 32, 1, 1)}) {
    for (int form : {0, 3, 12, 15}) {
      SCOPED_TRACE(testing::Message() << "form " << form);
      const ConvForm f = conv_form(g, form);
      expect_same_for_every_number_of_threads(f, pack_conv_weights_int8(g, f.w.data(), f.w_signed));
      ConvForm small = f;
      small.w = mostly_small(static_cast<int64_t>(f.w.size()), f.w_signed, 0.005);
      expect_same_for_every_number_of_threads(small, pack_conv_weights_int8(g, small.w.data(), f.w_signed));
      if (HasFatalFailure()) return;
    }
  }
}

ORTOLAN_FOR_EACH_ISA(Int8);

}  // namespace
}  // namespace ortolan::cpu::kernels
