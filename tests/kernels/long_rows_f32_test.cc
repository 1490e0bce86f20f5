// Tests of single rows in pieces against the functions that take rows whole, on every instruction set.
#include "cpu/kernels/rows/long_rows_f32.h"

#include <algorithm>

#include "base/threads/run_scope.h"
#include "cpu/kernels/elementwise/convert.h"
#include "isa_test.h"

namespace ortolan::cpu::kernels {
namespace {

class LongRowsF32 : public IsaTest {};

/** How far results are apart, of numbers about 1. */
float apart(const std::vector<float>& a, const std::vector<float>& b) {
  float most = 0;
  for (size_t i = 0; i < a.size(); ++i) most = std::max(most, std::fabs(a[i] - b[i]));
  return most;
}

TEST_P(LongRowsF32, ReduceAsShortOnesDo) {
  for (int64_t n : {1, 100, 5000, 600000}) {
    const std::vector<float> x = normal(n);
    for (ReduceOp op : {ReduceOp::kSum, ReduceOp::kSumSquares, ReduceOp::kSumAbs, ReduceOp::kMax, ReduceOp::kMin}) {
      EXPECT_EQ(reduce_long_row(op, x.data(), n), reduce(op, x.data(), n)) << static_cast<int>(op) << " of " << n;
    }
  }
}

TEST_P(LongRowsF32, MaxAndMinPassNanOn) {
  std::vector<float> x = normal(600000);
  x[300000] = NAN;
  EXPECT_TRUE(std::isnan(reduce_long_row(ReduceOp::kMax, x.data(), std::ssize(x))));
  EXPECT_TRUE(std::isnan(reduce_long_row(ReduceOp::kMin, x.data(), std::ssize(x))));
}

TEST_P(LongRowsF32, SoftmaxAsShortOnesDo) {
  for (int64_t n : {3, 5000, 9001}) {
    const std::vector<float> x = normal(n);
    for (bool logarithm : {false, true}) {
      std::vector<float> want(n), got = x;
      softmax(nullptr, x.data(), 1, n, 1, logarithm, want.data());
      softmax_long_row(got.data(), n, logarithm, got.data());
      EXPECT_LE(apart(got, want), logarithm ? 1e-5f : 1e-6f) << n;
    }
  }
}

TEST_P(LongRowsF32, NormalizeAsShortOnesDo) {
  const int64_t n = 9001;
  const std::vector<float> x = normal(n), scale = normal(n), bias = normal(n);
  for (bool rms : {false, true}) {
    std::vector<float> want(n), got(n);
    float means[2], factors[2];
    ValueRange ranges[2];
    LayerNorm args{1, n, x.data()};
    args.scale = scale.data(), args.bias = bias.data(), args.rms = rms;
    args.y = want.data(), args.mean = means, args.inverse_std = factors, args.range = ranges;
    layer_norm(nullptr, args);
    args.y = got.data(), args.mean = means + 1, args.inverse_std = factors + 1, args.range = ranges + 1;
    normalize_long_row(args);
    EXPECT_LE(apart(got, want), 1e-5f);
    EXPECT_NEAR(means[1], means[0], 1e-6);
    EXPECT_NEAR(factors[1], factors[0], 1e-6);
    EXPECT_NEAR(ranges[1].low, ranges[0].low, 1e-5);
    EXPECT_NEAR(ranges[1].high, ranges[0].high, 1e-5);
  }
}

TEST_P(LongRowsF32, LookWhetherToStop) {
  const std::vector<float> x = normal(kLongRow + 1);
  std::vector<float> y(x.size());
  auto looks = [](auto&& work) {
    const uint64_t before = base::terminate_looks();
    work();
    return base::terminate_looks() - before;
  };
  EXPECT_GE(looks([&] { reduce(ReduceOp::kSum, x.data(), std::ssize(x)); }), 4u);
  EXPECT_GE(looks([&] { softmax(nullptr, x.data(), 1, std::ssize(x), 1, false, y.data()); }), 12u);
  LayerNorm args{1, std::ssize(x), x.data()};
  args.y = y.data();
  EXPECT_GE(looks([&] { layer_norm(nullptr, args); }), 12u);
}

ORTOLAN_FOR_EACH_ISA(LongRowsF32);

}  // namespace
}  // namespace ortolan::cpu::kernels
