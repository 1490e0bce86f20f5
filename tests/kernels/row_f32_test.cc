// Tests of reductions, softmax and normalisation against double references, on every instruction set.
#include <algorithm>
#include <array>
#include <limits>

#include "cpu/kernels/elementwise/convert.h"
#include "cpu/kernels/rows/normalization_f32.h"
#include "cpu/kernels/rows/reduce_f32.h"
#include "isa_test.h"
#include "pools.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

double exact(ReduceOp op, const float* x, int64_t n, int64_t stride) {
  double result = op == ReduceOp::kProduct ? 1 : op == ReduceOp::kMax ? -kInf : op == ReduceOp::kMin ? kInf : 0;
  for (int64_t i = 0; i < n; ++i) {
    const double v = x[i * stride];
    if (std::isnan(v)) return v;
    switch (op) {
      case ReduceOp::kSum:
        result += v;
        break;
      case ReduceOp::kSumSquares:
        result += v * v;
        break;
      case ReduceOp::kSumAbs:
        result += std::fabs(v);
        break;
      case ReduceOp::kProduct:
        result *= v;
        break;
      case ReduceOp::kMax:
        result = std::max(result, v);
        break;
      case ReduceOp::kMin:
        result = std::min(result, v);
        break;
      case ReduceOp::kCount:
        break;
    }
  }
  return result;
}

class RowF32 : public IsaTest {};

TEST_P(RowF32, ReducesSpans) {
  for (int op = 0; op < static_cast<int>(ReduceOp::kCount); ++op) {
    for (int64_t n : {0, 1, 3, 15, 16, 17, 64, 100, 5000, 20000}) {
      const std::vector<float> x = normal(n);
      const double want = exact(static_cast<ReduceOp>(op), x.data(), n, 1);
      const double size = exact(ReduceOp::kSumAbs, x.data(), n, 1) + exact(ReduceOp::kSumSquares, x.data(), n, 1);
      const double tolerance =
          op == static_cast<int>(ReduceOp::kProduct) ? 1e-4 * std::fabs(want) + 1e-37 : 3e-7 * size;
      const float got = reduce(static_cast<ReduceOp>(op), x.data(), n);
      EXPECT_TRUE(got == want || std::fabs(got - want) <= tolerance)
          << op << " of " << n << ": " << got << " for " << want;
    }
  }
}

TEST_P(RowF32, MaxAndMinPassNanOn) {
  for (int64_t n : {1, 5, 16, 40, 200}) {
    for (int64_t at = 0; at < n; ++at) {
      std::vector<float> x = normal(n);
      x[at] = NAN;
      EXPECT_TRUE(std::isnan(reduce(ReduceOp::kMax, x.data(), n))) << at << " of " << n;
      EXPECT_TRUE(std::isnan(reduce(ReduceOp::kMin, x.data(), n))) << at << " of " << n;
    }
  }
}

TEST_P(RowF32, ShortRowsPassNanOn) {
  for (int64_t n : {1, 5, 16, 64}) {
    std::vector<float> x = normal(40 * n), y(40);
    x[11 * n + n / 2] = NAN;
    for (ReduceOp op : {ReduceOp::kMax, ReduceOp::kMin, ReduceOp::kSum}) {
      reduce_axis(&two_threads(), op, x.data(), 40, n, 1, y.data());
      for (int64_t i = 0; i < 40; ++i) EXPECT_EQ(std::isnan(y[i]), i == 11) << n << ' ' << i;
    }
  }
}

TEST_P(RowF32, ReducesAlongAnAxis) {
  for (auto [outer, axis, inner] : std::vector<std::array<int64_t, 3>>{{3, 5, 1},
                                                                       {2, 7, 3},
                                                                       {1, 200, 70},
                                                                       {4, 1, 64},
                                                                       {2, 0, 3},
                                                                       {0, 3, 3},
                                                                       {300, 33, 17},
                                                                       {2, 100, 600},
                                                                       {600, 1, 1},
                                                                       {15, 6, 1},
                                                                       {16, 5, 1},
                                                                       {257, 16, 1},
                                                                       {530, 31, 1},
                                                                       {70, 32, 1},
                                                                       {700, 33, 1}}) {
    const std::vector<float> x = normal(outer * axis * inner);
    for (ReduceOp op : {ReduceOp::kSum, ReduceOp::kMax, ReduceOp::kSumSquares}) {
      std::vector<float> y(outer * inner, 77);
      reduce_axis(&two_threads(), op, x.data(), outer, axis, inner, y.data());
      for (int64_t i = 0; i < outer * inner; ++i) {
        const double want = exact(op, x.data() + i / inner * axis * inner + i % inner, axis, inner);
        ASSERT_TRUE(y[i] == want || std::fabs(y[i] - want) <= 1e-6 * (axis + 1)) << i;
      }
    }
  }
}

TEST_P(RowF32, DotAndArgMax) {
  for (int64_t n : {1, 7, 16, 100, 9000}) {
    const std::vector<float> a = normal(n), b = normal(n);
    double want = 0;
    for (int64_t i = 0; i < n; ++i) want += double{a[i]} * b[i];
    EXPECT_NEAR(dot(a.data(), b.data(), n), want, 1e-6 * n);
  }
  const float x[] = {NAN, 1, 3, 2, 3};
  EXPECT_EQ(arg_max(x, 5, false), 2);
  EXPECT_EQ(arg_max(x, 5, true), 4);
}

void expect_softmax(const float* x, const float* y, int64_t axis, int64_t stride, bool logarithm) {
  double largest = -kInf, sum = 0;
  for (int64_t a = 0; a < axis; ++a) largest = std::max<double>(largest, x[a * stride]);
  for (int64_t a = 0; a < axis; ++a) sum += std::exp(x[a * stride] - largest);
  for (int64_t a = 0; a < axis; ++a) {
    const double v = x[a * stride] - largest;
    if (logarithm) {
      ASSERT_NEAR(y[a * stride], v - std::log(sum), 1e-6 * (1 + std::fabs(v)));
    } else {
      ASSERT_NEAR(y[a * stride], std::exp(v) / sum, 1e-6 * (1 + std::fabs(v)) * std::exp(v) / sum + 1e-38);
    }
  }
}

TEST_P(RowF32, SoftmaxAlongAnyAxis) {
  for (auto [outer, axis, inner] : std::vector<std::array<int64_t, 3>>{
           {3, 5, 1}, {2, 1, 1}, {100, 129, 1}, {2, 7, 3}, {2, 20, 300}, {1, 2, 16}, {0, 4, 4}, {1, 5000, 1}}) {
    for (bool logarithm : {false, true}) {
      const std::vector<float> x = normal(outer * axis * inner, 5);
      std::vector<float> y = x;
      softmax(&two_threads(), y.data(), outer, axis, inner, logarithm, y.data());
      for (int64_t i = 0; i < outer * inner; ++i) {
        const int64_t at = i / inner * axis * inner + i % inner;
        expect_softmax(x.data() + at, y.data() + at, axis, inner, logarithm);
      }
    }
  }
}

TEST_P(RowF32, SoftmaxRowScalesAndMasks) {
  const int64_t n = 37;
  const std::vector<float> x = normal(n);
  std::vector<float> mask(n, 0), y(n), z(n);
  for (int64_t i = 20; i < n; ++i) mask[i] = -kInf;
  softmax_row(x.data(), 0.5f, mask.data(), n, y.data());
  for (int64_t i = 0; i < n; ++i) z[i] = 0.5f * x[i];
  expect_softmax(z.data(), y.data(), 20, 1, false);
  for (int64_t i = 20; i < n; ++i) EXPECT_EQ(y[i], 0);
  std::fill(mask.begin(), mask.end(), -kInf);
  softmax_row(x.data(), 1, mask.data(), n, y.data());
  EXPECT_TRUE(std::isnan(y[0]));
}

TEST_P(RowF32, WeighsRows) {
  for (int64_t n : {1, 15, 16, 31, 128, 150, 300}) {
    for (int64_t stride : {int64_t{-1}, int64_t{0}, n + 3}) {
      const int64_t rows = integer(1, 20), nothing = rows / 2;
      std::vector<float> x = normal(rows * n, 5), added = normal(rows * (n + 3), 40), maxima(rows), totals(rows);
      std::fill_n(x.begin() + nothing * n, n, -kInf);
      std::vector<float> y = x;
      weigh_rows(y.data(), rows, n, stride < 0 ? nullptr : added.data(), stride, maxima.data(), totals.data());
      for (int64_t row = 0; row < rows; ++row) {
        float largest = -kInf;
        double total = 0;
        const auto score = [&](int64_t i) { return x[row * n + i] + (stride < 0 ? 0 : added[row * stride + i]); };
        for (int64_t i = 0; i < n; ++i) largest = std::max(largest, score(i));
        for (int64_t i = 0; i < n; ++i) {
          const double below = row == nothing ? -1e4 : double(score(i)) - largest, want = std::exp(below);
          total += want;
          const double vanishes = want < 1.0001 * 0x1p-126 ? want : 0;
          EXPECT_NEAR(y[row * n + i], want, (2e-7 - 1e-7 * below) * want + vanishes) << row << "," << i << " of " << n;
          EXPECT_NE(std::fpclassify(y[row * n + i]), FP_SUBNORMAL);
        }
        EXPECT_EQ(maxima[row], largest);
        EXPECT_NEAR(totals[row], total, 1e-6 * total);
      }
    }
  }
}

TEST_P(RowF32, ScalesRows) {
  for (int64_t n : {1, 15, 16, 37, 64}) {
    const int64_t rows = integer(1, 9), stride = n + 2;
    const std::vector<float> x = normal(rows * n), factors = normal(rows);
    std::vector<float> y(rows * stride, 77);
    ValueRange range;
    scale_rows(x.data(), rows, n, factors.data(), y.data(), stride, &range);
    float low = 0, high = 0;
    for (int64_t i = 0; i < rows * n; ++i) {
      low = std::min(low, x[i] * factors[i / n]), high = std::max(high, x[i] * factors[i / n]);
    }
    EXPECT_EQ(range.low, low);
    EXPECT_EQ(range.high, high);
    for (int64_t i = 0; i < rows * stride; ++i) {
      const int64_t row = i / stride, column = i % stride;
      EXPECT_EQ(y[i], column < n ? x[row * n + column] * factors[row] : 77) << row << "," << column << " of " << n;
    }
  }
}

TEST_P(RowF32, LayerNormOfARowIsTheSameAmongOthersAndInPlace) {
  for (int64_t columns : {3, 37, 768}) {
    const int64_t rows = 11;
    const std::vector<float> x = normal(rows * columns), scale = normal(columns), bias = normal(columns);
    LayerNorm args;
    args.rows = rows, args.columns = columns, args.scale = scale.data(), args.bias = bias.data();
    std::vector<float> together = x, alone(rows * columns);
    args.x = args.y = together.data();
    layer_norm(nullptr, args);
    args.rows = 1;
    for (int64_t row = 0; row < rows; ++row) {
      args.x = x.data() + row * columns, args.y = alone.data() + row * columns;
      layer_norm(nullptr, args);
    }
    EXPECT_EQ(together, alone) << columns;
  }
}

TEST_P(RowF32, LayerNormInEveryForm) {
  for (int64_t columns : {1, 5, 16, 100, 768, 5000}) {
    for (int form = 0; form < 16; ++form) {
      const int64_t rows = integer(1, 9);
      const std::vector<float> x = normal(rows * columns), skip = normal(columns), extra = normal(columns),
                               scale = normal(columns), bias = normal(columns);
      std::vector<float> y(rows * columns), sum(rows * columns), mean(rows), inverse_std(rows);
      LayerNorm args;
      args.rows = rows, args.columns = columns, args.x = x.data(), args.y = y.data();
      if (form & 1) args.skip = skip.data(), args.skip_rows = 1, args.skip_bias = extra.data();
      if (form & 2) args.sum = sum.data();
      if (form & 4) args.scale = scale.data(), args.mean = mean.data(), args.inverse_std = inverse_std.data();
      if (form & 8) args.bias = bias.data();
      args.rms = form == 5;
      ValueRange range;
      if (columns % 2 || form & 1) args.range = &range;
      layer_norm(&two_threads(), args);
      if (args.range) {
        EXPECT_EQ(range.low, std::min(0.0f, *std::min_element(y.begin(), y.end()))) << columns << " form " << form;
        EXPECT_EQ(range.high, std::max(0.0f, *std::max_element(y.begin(), y.end()))) << columns << " form " << form;
      }
      for (int64_t row = 0; row < rows; ++row) {
        std::vector<double> v(columns);
        double m = 0, variance = 0;
        for (int64_t i = 0; i < columns; ++i) {
          v[i] = x[row * columns + i] + (form & 1 ? double{skip[i]} + extra[i] : 0.0);
          if (form & 2) {
            ASSERT_NEAR(sum[row * columns + i], v[i], 1e-6);
          }
          m += args.rms ? 0 : v[i] / columns;
        }
        for (double value : v) variance += (value - m) * (value - m) / columns;
        for (int64_t i = 0; i < columns; ++i) {
          const double normal_value = (v[i] - m) / std::sqrt(variance + args.epsilon);
          const double want = normal_value * (form & 4 ? scale[i] : 1) + (form & 8 ? bias[i] : 0);
          ASSERT_NEAR(y[row * columns + i], want, 5e-6 * (1 + std::fabs(want))) << columns << " form " << form;
        }
        if (form & 4) {
          ASSERT_NEAR(inverse_std[row] * std::sqrt(variance + args.epsilon), 1, 1e-5);
        }
        if (form & 4) {
          ASSERT_NEAR(mean[row], m, 1e-6);
        }
      }
    }
  }
}

TEST_P(RowF32, MomentsAreExactFarFromZero) {
  std::vector<float> x = normal(1000);
  for (float& v : x) v += 10000;
  double m = 0, s = 0;
  for (float v : x) m += v / 1000.0;
  for (float v : x) s += (v - m) * (v - m) / 1000;
  float mean, variance;
  row_moments(nullptr, x.data(), 1, 1000, &mean, &variance);
  EXPECT_NEAR(mean, m, 1e-2);
  EXPECT_NEAR(variance, s, 1e-3 * s);
}

TEST_P(RowF32, ScalesChannels) {
  for (int64_t inner : {1, 3, 20}) {
    const std::vector<float> x = normal(2 * 5 * inner), scale = normal(5), shift = normal(5);
    std::vector<float> y(x.size());
    scale_channels(nullptr, x.data(), 2, 5, inner, scale.data(), shift.data(), y.data());
    for (size_t i = 0; i < x.size(); ++i) {
      const size_t c = i / inner % 5;
      EXPECT_NEAR(y[i], double{x[i]} * scale[c] + shift[c], 1e-6);
    }
  }
}

ORTOLAN_FOR_EACH_ISA(RowF32);

}  // namespace
}  // namespace ortolan::cpu::kernels
