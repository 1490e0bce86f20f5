// Tests of fp32 convolution on tiles against double references, within the bound that its slices give.
#include "cpu/kernels/convolution/split_conv_f32.h"

#include <algorithm>
#include <limits>

#include "base/threads/thread_pool.h"
#include "conv_reference.h"
#include "isa_test.h"
#include "pools.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr double kUnit = 0x1p-24;

base::ThreadPool* threads_or_none(int threads) { return threads == 1 ? nullptr : &pool_of(threads); }

float largest(const std::vector<float>& values) {
  float most = 0;
  for (float v : values) most = std::max(most, std::fabs(v));
  return most;
}

std::vector<float> magnitudes(std::vector<float> values) {
  for (float& v : values) v = std::fabs(v);
  return values;
}

// A convolution and its operands.
struct Case {
  ConvGeometry g;
  std::vector<float> x, w, bias, residual;
  Activation activation;

  int64_t outputs() const { return g.batch * g.out_channels * volume(g.out); }
  ConvEpilogue epilogue() const {
    return {bias.empty() ? nullptr : bias.data(), residual.empty() ? nullptr : residual.data(), activation};
  }
};

double activated(Activation a, double v) {
  if (a.op == UnaryOp::kRelu) return std::max(v, 0.0);
  if (a.op == UnaryOp::kClip) return std::min(std::max<double>(v, a.p0), double{a.p1});
  if (a.op == UnaryOp::kSilu) return v / (1 + std::exp(-v));
  return v;
}

class SplitConvF32 : public IsaTest {
 protected:
  Case random_case(const ConvGeometry& g, Activation activation = {}, bool bias = false, bool residual = false) {
    Case c{g, normal(g.batch * g.in_channels * volume(g.in)), {}, {}, {}, activation};
    c.w = normal(g.out_channels * (g.in_channels / g.groups) * volume(g.kernel));
    if (bias) c.bias = normal(g.out_channels);
    if (residual) c.residual = normal(c.outputs());
    return c;
  }

  std::vector<float> run(const Case& c, int threads = 1, int slices = 3) {
    const auto packed = pack_split_conv(threads_or_none(threads), c.g, c.w.data(), slices);
    EXPECT_NE(packed, nullptr);
    std::vector<float> y(c.outputs() + 1, 77);
    if (packed != nullptr) conv_split(threads_or_none(threads), c.g, c.x.data(), *packed, c.epilogue(), y.data());
    EXPECT_EQ(y.back(), 77);
    y.pop_back();
    return y;
  }

  // |y - exact| <= bound * (|w| conv |x|) and what finishing and denormal slices add.
  void expect_close(const Case& c, const std::vector<float>& y, double bound) {
    const std::vector<double> want = reference(c.g, c.x, c.w);
    const std::vector<double> magnitude = reference(c.g, magnitudes(c.x), magnitudes(c.w));
    const double depth = static_cast<double>(c.g.in_channels / c.g.groups * volume(c.g.kernel));
    const double floor = 6 * depth * 0x1p-66 * largest(c.x) * largest(c.w);
    for (size_t i = 0; i < want.size(); ++i) {
      const double bias = c.bias.empty() ? 0 : c.bias[i / volume(c.g.out) % c.g.out_channels];
      const double residual = c.residual.empty() ? 0 : c.residual[i];
      const double v = activated(c.activation, want[i] + bias + residual);
      const double finishing = 4 * kUnit * (std::fabs(want[i]) + std::fabs(bias) + std::fabs(residual));
      ASSERT_NEAR(y[i], v, bound * magnitude[i] + floor + 1.2 * finishing)
          << "channels " << c.g.in_channels << "->" << c.g.out_channels << " groups " << c.g.groups << " in "
          << c.g.in[1] << "x" << c.g.in[2] << " kernel " << c.g.kernel[1] << "x" << c.g.kernel[2] << " stride "
          << c.g.stride[2] << " at " << i;
    }
  }

  // The contract of three slices.
  static double bound(const ConvGeometry& g) {
    const double steps = static_cast<double>((g.in_channels / g.groups + 31) / 32 * volume(g.kernel));
    return (19 + 1.04 * std::min(steps, 24.0) + std::ceil(steps / 24)) * kUnit;
  }

  void check(const Case& c, int threads = 1) { expect_close(c, run(c, threads), bound(c.g)); }

  ConvGeometry random_geometry() {
    ConvGeometry g;
    g.batch = integer(1, 2);
    g.groups = integer(0, 2) ? 1 : integer(2, 3);
    g.in_channels = g.groups * integer(1, 70);
    g.out_channels = g.groups * integer(1, 70);
    set_windows(g, 1, 3, 12, [this](int64_t low, int64_t high) { return integer(low, high); });
    return g;
  }
};

TEST_P(SplitConvF32, RandomGeometries) {
  for (int round = 0; round < 40 && !HasFatalFailure(); ++round) {
    check(random_case(random_geometry(), some_activation(round), integer(0, 1), integer(0, 1)),
          static_cast<int>(integer(1, 4)));
  }
}

TEST_P(SplitConvF32, Pointwise) {
  for (int64_t size : {1, 4, 7, 14}) {
    for (int64_t channels : {33, 64, 800}) {
      ConvGeometry g = plane(channels, channels == 800 ? 48 : 97, 1, size, 1, 1);
      g.batch = size < 5 ? 3 : 1;
      check(random_case(g, some_activation(size), size % 2, size % 3 != 0), size == 14 ? 2 : 1);
    }
  }
  check(random_case(plane(64, 40, 1, 15, 1, 2), {UnaryOp::kRelu}, true, true));
}

TEST_P(SplitConvF32, ThreeByThree) {
  check(random_case(plane(64, 32, 1, 28, 3, 1), {UnaryOp::kRelu}, true, true));
  check(random_case(plane(128, 64, 1, 7, 3, 1), {UnaryOp::kSilu}, true, true));
  check(random_case(plane(40, 72, 1, 14, 3, 2), {}, true, false));
  check(random_case(plane(96, 96, 3, 9, 3, 1), {UnaryOp::kClip, 0, 6}, true, false));
  ConvGeometry g = plane(32, 32, 1, 13, 3, 1);
  g.dilation[1] = g.dilation[2] = g.pad_begin[1] = g.pad_begin[2] = 4;
  set_out(g, {0, 4, 4});
  check(random_case(g));
}

// Planes of three dimensions under weights that span two of them, with padding before and after.
TEST_P(SplitConvF32, Depth) {
  ConvGeometry g = plane(33, 20, 1, 6, 3, 1);
  g.batch = 2;
  g.in[0] = 5, g.stride[0] = 2, g.pad_begin[0] = 1;
  set_out(g, {2, 1, 1});
  check(random_case(g, {UnaryOp::kRelu}, true, true), 2);
}

TEST_P(SplitConvF32, ThreadsDoNotChangeResults) {
  for (const ConvGeometry& g : {plane(64, 200, 1, 20, 3, 1), plane(300, 64, 2, 19, 1, 1), plane(64, 40, 1, 31, 3, 2),
                                plane(1024, 256, 1, 14, 1, 1)}) {
    const Case c = random_case(g, {UnaryOp::kSilu}, true, true);
    const std::vector<float> y = run(c);
    for (int threads : kThreadCounts) EXPECT_EQ(run(c, threads), y) << threads;
  }
}

TEST_P(SplitConvF32, ResidualMayBeTheResult) {
  for (float magnitude : {1.0f, 0x1p100f}) {
    Case c = random_case(plane(1000, 40, 1, 9, 1, 1), {UnaryOp::kRelu}, true, true);
    for (float& v : c.x) v *= magnitude;
    std::vector<float> y = c.residual;
    const auto packed = pack_split_conv(nullptr, c.g, c.w.data(), 3);
    ConvEpilogue epilogue = c.epilogue();
    epilogue.residual = y.data();
    conv_split(nullptr, c.g, c.x.data(), *packed, epilogue, y.data());
    if (magnitude == 1) expect_close(c, y, bound(c.g));
  }
}

// Inputs of any size, which fp32 arithmetic would take.
TEST_P(SplitConvF32, ScaledInputs) {
  for (int exponent : {-126, -100, -60, -31, -29, 29, 31, 100}) {
    Case c = random_case(plane(64, 33, 1, 6, 3, 1));
    for (float& v : c.x) v = std::ldexp(v, exponent);
    expect_close(c, run(c), bound(c.g));
  }
}

TEST_P(SplitConvF32, ElementsOfManySizes) {
  Case c = random_case(plane(128, 64, 1, 8, 3, 1));
  for (float& v : c.x) v = std::ldexp(v, static_cast<int>(integer(-20, 20)));
  for (float& v : c.w) v = std::ldexp(v, static_cast<int>(integer(-20, 20)));
  check(c);
}

TEST_P(SplitConvF32, InfinitiesAndNaN) {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (float odd : {infinity, -infinity, nan, std::numeric_limits<float>::max()}) {
    ConvGeometry g = plane(80, 66, 2, 6, 3, 1);
    g.batch = 2;
    Case c = random_case(g, {}, true, false);
    c.x[100 * 36 + 14] = odd;  // the second image's first group
    const std::vector<float> y = run(c);
    const std::vector<double> want = reference(c.g, c.x, c.w);
    for (size_t i = 0; i < want.size(); ++i) {
      const auto expected = static_cast<float>(want[i] + c.bias[i / 36 % 66]);
      if (std::isfinite(expected)) {
        EXPECT_NEAR(y[i], expected, 1e-5 * (40 + std::fabs(expected))) << odd << " at " << i;
      } else {
        EXPECT_EQ(std::isnan(y[i]), std::isnan(expected)) << odd << " at " << i;
        EXPECT_TRUE(std::isnan(y[i]) || y[i] == expected) << odd << " at " << i;
      }
    }
  }
}

TEST_P(SplitConvF32, RefusesWeightsOutOfRange) {
  const ConvGeometry g = plane(64, 64, 1, 4, 1, 1);
  for (float odd : {std::numeric_limits<float>::infinity(), 0x1p40f, std::numeric_limits<float>::quiet_NaN()}) {
    std::vector<float> w = normal(64 * 64);
    w[100] = odd;
    EXPECT_EQ(pack_split_conv(nullptr, g, w.data(), 3), nullptr);
  }
}

TEST_P(SplitConvF32, UnpacksWhatItPacked) {
  const ConvGeometry g = plane(70, 90, 2, 4, 3, 1);
  const std::vector<float> w = normal(90 * 35 * 9);
  const auto packed = pack_split_conv(threads_or_none(2), g, w.data(), 3);
  std::vector<float> back(w.size());
  for (int group = 0; group < 2; ++group) unpack_split_conv(*packed, group, back.data() + group * 45 * 35 * 9);
  EXPECT_EQ(back, w);
}

TEST_P(SplitConvF32, FewerSlices) {
  const Case c = random_case(plane(64, 64, 1, 10, 3, 1), {UnaryOp::kRelu}, true, false);
  expect_close(c, run(c, 1, 2), 0x1p-15);
  expect_close(c, run(c, 1, 1), 0x1p-7);
}

// Root of the mean square error against that of a plain loop of fused multiply-adds.
TEST_P(SplitConvF32, IsAsExactAsAPlainLoop) {
  for (bool positive : {false, true}) {
    Case c = random_case(plane(96, 40, 1, 12, 3, 1));
    if (positive) c.x = magnitudes(c.x), c.w = magnitudes(c.w);
    const std::vector<float> y = run(c);
    const std::vector<double> want = reference(c.g, c.x, c.w);
    std::vector<float> loop(y.size());
    for (int64_t i = 0; i < 40 * 96; ++i) {
      for_each_meeting(c.g, [&](int64_t out, int64_t tap, int64_t at) {
        float& sum = loop[i / 96 * 144 + out];
        sum = std::fma(c.w[i * 9 + tap], c.x[i % 96 * 144 + at], sum);
      });
    }
    double error = 0, loop_error = 0;
    for (size_t i = 0; i < want.size(); ++i) {
      error += (y[i] - want[i]) * (y[i] - want[i]);
      loop_error += (loop[i] - want[i]) * (loop[i] - want[i]);
    }
    EXPECT_LE(error, loop_error);
    RecordProperty("rms_ratio", std::to_string(std::sqrt(error / loop_error)));
  }
}

TEST_P(SplitConvF32, AbsurdDilation) {
  ConvGeometry g = plane(32, 32, 1, 4, 2, 1);
  for (int a = 1; a < 3; ++a) {
    g.dilation[a] = g.pad_begin[a] = int64_t{1} << 40;
    g.out[a] = 4;
  }
  const Case c = random_case(g);
  expect_close(c, run(c), bound(g));
}

// A square of outputs a side.
ConvGeometry layer(int64_t in, int64_t out, int64_t kernel, int64_t stride) {
  ConvGeometry g;
  g.in_channels = in, g.out_channels = out;
  for (int a = 1; a < 3; ++a) g.kernel[a] = kernel, g.stride[a] = stride;
  return g;
}

TEST_P(SplitConvF32, TilesWhereTheyGain) {
  EXPECT_TRUE(suits_split_conv(layer(1024, 1024, 1, 1), 28 * 28, 3));
  EXPECT_FALSE(suits_split_conv(layer(1024, 256, 1, 1), 14 * 14, 3)) << "gains little";
  EXPECT_TRUE(suits_split_conv(layer(1024, 256, 1, 1), 14 * 14, 2));
  EXPECT_TRUE(suits_split_conv(layer(128, 128, 3, 2), 28 * 28, 2));
  EXPECT_FALSE(suits_split_conv(layer(16, 96, 1, 1), 112 * 112, 3)) << "few products for each result";
  EXPECT_FALSE(suits_split_conv(layer(3, 64, 7, 2), 112 * 112, 3)) << "three of 32 channels";
  for (int64_t channels : {64, 128, 256}) {
    const int64_t side = 56 * 64 / channels;
    EXPECT_FALSE(suits_split_conv(layer(channels, channels, 3, 1), side * side, 3)) << "Winograd's transforms";
    EXPECT_TRUE(suits_split_conv(layer(channels, channels, 3, 1), side * side, 2));
    EXPECT_TRUE(suits_split_conv(layer(channels, channels, 3, 1), side * side, 1));
  }
  ConvGeometry spread = layer(64, 64, 3, 1);
  spread.dilation[1] = spread.dilation[2] = int64_t{1} << 62;
  EXPECT_FALSE(suits_split_conv(spread, 0, 3));
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SplitConvF32);  // no architecture but x86_64 has tiles
INSTANTIATE_TEST_SUITE_P(Isa, SplitConvF32, testing::ValuesIn(levels_with(&KernelTable::split_conv)),
                         [](const auto& info) { return base::isa_name(info.param); });

}  // namespace
}  // namespace ortolan::cpu::kernels
