// Tests of fp32 convolution against double references, on every instruction set.
#include "cpu/kernels/convolution/conv_f32.h"

#include <algorithm>
#include <limits>

#include "../thrown_text.h"
#include "base/error.h"
#include "base/threads/run_scope.h"
#include "conv_reference.h"
#include "cpu/kernels/convolution/winograd_f32.h"
#include "isa_test.h"
#include "pools.h"

namespace ortolan::cpu::kernels {
namespace {

class ConvF32 : public IsaTest {
 protected:
  void check(const ConvGeometry& g, Activation activation, bool with_bias, bool with_residual,
             const ConvPacking& packing = {}) {
    const int64_t depth = g.in_channels / g.groups, out_plane = volume(g.out);
    const std::vector<float> x = normal(g.batch * g.in_channels * volume(g.in));
    const std::vector<float> w = normal(g.out_channels * depth * volume(g.kernel));
    const std::vector<float> bias = normal(g.out_channels), residual = normal(g.batch * g.out_channels * out_plane);
    std::vector<float> y(g.batch * g.out_channels * out_plane + 1, 77);
    ConvEpilogue epilogue{with_bias ? bias.data() : nullptr, with_residual ? residual.data() : nullptr, activation};
    if (with_residual && integer(0, 1)) {
      std::copy(residual.begin(), residual.end(), y.begin());
      epilogue.residual = y.data();
    }
    conv(integer(0, 1) ? &two_threads() : nullptr, g, x.data(), pack_conv_weights(&two_threads(), g, w.data(), packing),
         epilogue, y.data());
    const std::vector<double> want = reference(g, x, w);
    for (size_t i = 0; i < want.size(); ++i) {
      double v = want[i] + (with_bias ? bias[i / out_plane % g.out_channels] : 0) + (with_residual ? residual[i] : 0);
      if (activation.op == UnaryOp::kRelu) v = std::max(v, 0.0);
      if (activation.op == UnaryOp::kClip) v = std::min(std::max<double>(v, activation.p0), double{activation.p1});
      if (activation.op == UnaryOp::kSilu) v = v / (1 + std::exp(-v));
      ASSERT_NEAR(y[i], v, 2e-6 * (4 + std::sqrt(double(depth * volume(g.kernel))) * 4))
          << "channels " << g.in_channels << "->" << g.out_channels << " groups " << g.groups << " in " << g.in[1]
          << "x" << g.in[2] << " kernel " << g.kernel[1] << "x" << g.kernel[2] << " stride " << g.stride[2] << " at "
          << i;
    }
    EXPECT_EQ(y.back(), 77);
  }

  ConvGeometry random_geometry(int rank, bool depthwise) {
    ConvGeometry g;
    g.batch = integer(1, 2);
    g.groups = depthwise ? integer(2, 20) : integer(0, 3) ? 1 : integer(2, 4);
    g.in_channels = depthwise ? g.groups : g.groups * integer(1, 20);
    g.out_channels = g.groups * (depthwise ? integer(1, 2) : integer(1, 40));
    set_windows(g, 3 - rank, 5,
                rank == 1   ? 100
                : rank == 2 ? 24
                            : 6,
                [this](int64_t low, int64_t high) { return integer(low, high); });
    return g;
  }
};

TEST_P(ConvF32, RandomGeometries) {
  for (int round = 0; round < 60 && !HasFatalFailure(); ++round) {
    const ConvGeometry g = random_geometry(1 + round % 3, round % 4 == 0);
    check(g, some_activation(round), integer(0, 1), integer(0, 1));
  }
}

TEST_P(ConvF32, ImagesOfOneColumn) {
  for (int round = 0; round < 20 && !HasFatalFailure(); ++round) {
    ConvGeometry g = random_geometry(3, round % 4 == 0);
    int64_t pad_end[3] = {integer(0, 2), integer(0, 2), 0};
    for (int a = round % 3 == 0 ? 1 : 2; a < 3; ++a) {
      g.in[a] = g.kernel[a] = 1;
      g.pad_begin[a] = pad_end[a] = 0;
      if (integer(0, 4) == 0) g.pad_begin[a] = 1, g.stride[a] = 2;  // the only place read is padding
    }
    g.in[0] = (g.kernel[0] - 1) * g.dilation[0] + integer(1, 90);
    set_out(g, pad_end);
    check(g, some_activation(round), integer(0, 1), integer(0, 1));
  }
}

TEST_P(ConvF32, LayersOfKnownNetworks) {
  check(plane(3, 64, 1, 64, 7, 2), {UnaryOp::kRelu}, true, false);
  check(plane(64, 64, 1, 28, 3, 1), {UnaryOp::kRelu}, true, true);
  check(plane(160, 80, 1, 7, 1, 1), {}, true, false);
  check(plane(80, 33, 1, 14, 1, 2), {}, false, false);
  check(plane(96, 40, 1, 7, 3, 1), {UnaryOp::kSilu}, true, true);
  for (int64_t kernel : {3, 5, 7}) {
    for (int64_t stride : {1, 2}) {
      check(plane(24, 24, 24, 33, kernel, stride), {UnaryOp::kClip, 0, 6}, true, false);
      check(plane(24, 24, 24, 7, kernel, stride), {UnaryOp::kSilu}, true, true);
    }
  }
}

// Weights that reach over one slice of three.
TEST_P(ConvF32, PlanesOfSeveralSlices) {
  for (int64_t pad : {0, 1}) {
    for (ConvGeometry g : {plane(8, 8, 8, 9, 3, 1), plane(6, 12, 6, 9, 3, 2), plane(32, 40, 1, 9, 3, 1)}) {
      g.batch = 2, g.in[0] = 3, g.out[0] = 3 + 2 * pad, g.pad_begin[0] = pad;
      check(g, {UnaryOp::kRelu}, true, pad == 1);
    }
  }
}

TEST_P(ConvF32, PointwisePlanesOfAnySize) {
  for (int64_t size = 1; size < 110; size += size < 20 ? 1 : 7) {
    ConvGeometry g = plane(2 * integer(1, 200), 2 * integer(1, 20), integer(1, 2), 1, 1, 1);
    g.batch = integer(1, 2);
    g.in[2] = g.out[2] = size;
    check(g, some_activation(size), size % 2, size % 3 == 0);
  }
  check(plane(20, 16, 1, 32, 1, 1), {UnaryOp::kRelu}, true, true);
  check(plane(20, 100, 1, 32, 1, 1), {UnaryOp::kRelu}, true, true);
}

TEST_P(ConvF32, RowsOfFewChannels) {
  for (int64_t stride : {1, 2}) {
    for (int64_t kernel : {2, 3, 6}) {
      ConvGeometry g = plane(integer(1, 5), 2 * integer(1, 20), 1, 31, kernel, stride);
      g.batch = integer(1, 2);
      g.in[1] = integer(kernel, 70);
      g.pad_begin[1] = integer(0, 4), g.dilation[2] = integer(1, 2);
      set_out(g, {0, integer(0, 4), kernel});
      check(g, some_activation(kernel), true, stride == 2);
    }
  }
  ConvGeometry bands = plane(40, 20, 2, 90, 3, 2);
  check(bands, {UnaryOp::kSilu}, true, true);
  bands.pad_begin[1] = 60;
  set_out(bands, {0, 60, 1});
  check(bands, {UnaryOp::kRelu}, true, false);
}

TEST_P(ConvF32, OutputsFarApart) {
  for (int64_t stride : {3, 4, 5, 8, 16, 17}) {
    for (int64_t kernel : {3, 4, 7, 11}) {
      ConvGeometry g = plane(integer(1, 3), 2 * integer(1, 12), 1, integer(40, 200), kernel, stride);
      g.in[1] = integer(kernel, 20);
      g.pad_begin[1] = integer(0, 4), g.pad_begin[2] = integer(0, 9);
      set_out(g, {0, integer(0, 4), integer(0, 9)});
      check(g, some_activation(kernel), true, stride == 4);
    }
  }
}

TEST_P(ConvF32, DepthwisePlanesOfAnySize) {
  for (int64_t size : {1, 2, 5, 8, 15, 16, 17, 34, 50}) {
    for (int64_t kernel : {3, 5, 7}) {
      for (int64_t stride : {1, 2}) {
        ConvGeometry g = plane(3, 3, 3, size, kernel, stride);
        int64_t pad_end[3] = {0, integer(0, kernel), integer(0, kernel)};
        for (int a = 1; a < 3; ++a) {
          g.pad_begin[a] = integer(0, kernel + 2);
          g.in[a] = std::max<int64_t>(size + integer(0, 2), kernel - g.pad_begin[a] - pad_end[a]);
        }
        set_out(g, pad_end);
        check(g, some_activation(size), size % 2, size % 3 == 0);
      }
    }
  }
}

TEST_P(ConvF32, ThreeByThreeOfManyChannels) {
  for (int64_t size : {1, 2, 7, 14, 25}) {
    ConvGeometry g = plane(size % 2 ? 33 : 64, size % 2 ? 70 : 40, 1, size, 3, 1);
    g.batch = size < 10 ? 3 : 1;
    check(g, some_activation(size), size % 3, size % 2);
    g.pad_begin[1] = 2, g.pad_begin[2] = 0;
    set_out(g, {0, 1, 2});
    check(g, {UnaryOp::kRelu}, true, size % 2 == 0);
  }
}

TEST_P(ConvF32, ThreeByThreeOfManyChannelsInSteps) {
  for (int64_t size : {1, 2, 5, 13, 28, 55, 71}) {
    ConvGeometry g = plane(size % 2 ? 33 : 64, size % 2 ? 70 : 40, 1, size, 3, 2);
    g.batch = size < 10 ? 3 : 1;
    check(g, some_activation(size), size % 3, size % 2);
    g.in[1] = size + integer(0, 3);
    g.pad_begin[1] = 2, g.pad_begin[2] = 0;
    set_out(g, {0, 1, 2});
    check(g, {UnaryOp::kRelu}, true, size % 2 == 0);
  }
}

TEST_P(ConvF32, ThreeByThreeOfMostChannels) {
  ConvPacking packing;
  for (int64_t size : {7, 9}) {
    packing.positions = size * size;
    check(plane(514, 130, 1, size, 3, 1), {UnaryOp::kRelu}, true, size == 7, packing);
    check(plane(512, 130, 1, size, 3, 1), {UnaryOp::kRelu}, true, size == 9, packing);
    check(plane(130, 512, 1, size, 3, 2), {}, true, false, packing);
  }
}

// Panels of all widths, thin ones among them; in place, gathered, transformed, along rows, of depthwise planes.
TEST_P(ConvF32, ThreadsDoNotChangeResults) {
  ConvGeometry images = plane(64, 96, 1, 14, 1, 1), slices = plane(32, 40, 1, 9, 3, 1);
  images.batch = 3;
  slices.in[0] = 6, slices.kernel[0] = 3, slices.out[0] = 4;
  for (const ConvGeometry& g : {images, slices, plane(96, 300, 1, 7, 3, 1), plane(256, 200, 1, 7, 1, 1),
                                plane(64, 160, 2, 15, 3, 1), plane(64, 130, 1, 26, 3, 2), plane(3, 32, 1, 60, 3, 2),
                                plane(40, 40, 40, 33, 3, 1), plane(24, 24, 24, 20, 4, 1)}) {
    const std::vector<float> x = normal(g.batch * g.in_channels * volume(g.in)), bias = normal(g.out_channels);
    const std::vector<float> w = normal(g.out_channels * (g.in_channels / g.groups) * volume(g.kernel));
    for (bool winograd : {false, true}) {
      ConvPacking packing;
      packing.slices = 0, packing.winograd = winograd;
      const auto with = [&](base::ThreadPool* pool) {
        std::vector<float> y(g.batch * g.out_channels * volume(g.out));
        conv(pool, g, x.data(), pack_conv_weights(pool, g, w.data(), packing), {bias.data(), nullptr, {}}, y.data());
        return y;
      };
      const std::vector<float> alone = with(nullptr);
      for (int threads : kThreadCounts) {
        EXPECT_EQ(with(&pool_of(threads)), alone)
            << threads << " threads, channels " << g.in_channels << "->" << g.out_channels;
      }
    }
  }
}

struct Errors {
  double layer = 0, loop = 0;  // sums of squares
};

// Of a 3x3 layer, and of a plain loop of multiply-adds, fused where the instruction set has such.
Errors errors_of_layer(const ConvGeometry& g, const std::vector<float>& x, const std::vector<float>& w, bool fused) {
  const int64_t size = volume(g.out), image = volume(g.in), depth = g.in_channels;
  std::vector<float> y(g.out_channels * size), loop(y.size());
  conv(nullptr, g, x.data(), pack_conv_weights(nullptr, g, w.data()), {}, y.data());
  for (int64_t plane = 0; plane < g.out_channels; ++plane) {
    for (int64_t c = 0; c < depth; ++c) {
      for_each_meeting(g, [&](int64_t out, int64_t tap, int64_t at) {
        float& sum = loop[plane * size + out];
        const float a = w[(plane * depth + c) * 9 + tap], b = x[c * image + at];
        sum = fused ? std::fma(a, b, sum) : a * b + sum;
      });
    }
  }
  const std::vector<double> want = reference(g, x, w);
  Errors errors;
  for (size_t i = 0; i < want.size(); ++i) {
    errors.layer += (y[i] - want[i]) * (y[i] - want[i]);
    errors.loop += (loop[i] - want[i]) * (loop[i] - want[i]);
  }
  return errors;
}

// With any signs, and from the fewest channels on that are summed in another way.
TEST_P(ConvF32, IsAsExactAsAPlainLoop) {
  for (int round = 0; round < 8; ++round) {
    const int64_t depths[] = {16, 24, 32, 96}, depth = depths[round / 2], stride = 1 + round % 2;
    const ConvGeometry g = plane(depth, 40, 1, 12 * stride, 3, stride);
    for (int signs = 0; signs < 3; ++signs) {
      std::vector<float> x = normal(depth * volume(g.in)), w = normal(40 * depth * 9);
      for (float& v : x) v = signs > 0 ? std::fabs(v) : v;
      for (float& v : w) v = signs > 1 ? std::fabs(v) : v;
      const Errors errors = errors_of_layer(g, x, w, fuses(GetParam()));
      EXPECT_LE(errors.layer, errors.loop) << depth << " channels, stride " << stride << ", signs " << signs;
    }
  }
}

TEST_P(ConvF32, RefusesAbsurdPadding) {
  ConvGeometry g = plane(4, 4, 4, 5, 3, 1);
  const std::vector<float> w = normal(4 * 9), x = normal(4 * 25);
  const PackedConvWeights packed = pack_conv_weights(nullptr, g, w.data());
  for (int a = 1; a < 3; ++a) {
    g.stride[a] = g.pad_begin[a] = int64_t{1} << 40;
    g.out[a] = 2;
  }
  std::vector<float> y(4 * 4);
  EXPECT_TRUE(
      test::throws("an input plane of 25 elements becomes", [&] { conv(nullptr, g, x.data(), packed, {}, y.data()); }));
}

TEST_P(ConvF32, ExactOnesKeepInfinitiesWhereTheyReach) {
  const base::ScopedRunScope exact({base::Fp32Precision::kExact});
  const ConvGeometry g = plane(64, 64, 1, 14, 3, 1);
  const std::vector<float> w = normal(64 * 64 * 9);
  std::vector<float> x = normal(64 * 14 * 14), y(64 * 14 * 14);
  x[5 * 14 + 5] = std::numeric_limits<float>::infinity();
  const PackedConvWeights packed = pack_conv_weights(nullptr, g, w.data());
  EXPECT_EQ(std::string_view(packed.method()).find("winograd"), std::string_view::npos) << packed.method();
  conv(nullptr, g, x.data(), packed, {}, y.data());
  for (int64_t i = 0; i < std::ssize(y); ++i) {
    const int64_t row = i / 14 % 14, column = i % 14;
    const bool reached = std::abs(row - 5) <= 1 && std::abs(column - 5) <= 1;
    ASSERT_EQ(std::isinf(y[i]), reached) << "row " << row << " column " << column;
    ASSERT_FALSE(std::isnan(y[i])) << "row " << row << " column " << column;
  }
}

TEST_P(ConvF32, EmptyBatchDoesNothing) {
  ConvGeometry g = plane(4, 4, 1, 5, 3, 1);
  const std::vector<float> w = normal(4 * 4 * 9);
  const PackedConvWeights packed = pack_conv_weights(nullptr, g, w.data());
  EXPECT_GT(packed.bytes(), 0);
  g.batch = 0;
  conv(nullptr, g, nullptr, packed, {}, nullptr);
}

TEST(WinogradChoice, DependsOnTheShapeAndTheSumsOfARegisterTile) {
  const auto chosen = [](const ConvGeometry& g, int64_t positions) {
    return suits_winograd(g, kEnoughSums, positions);
  };
  const ConvGeometry layer = plane(64, 64, 1, 56, 3, 1);
  ConvGeometry dilated = layer;
  dilated.dilation[1] = dilated.dilation[2] = 2;
  EXPECT_TRUE(chosen(layer, 0));
  EXPECT_FALSE(suits_winograd(layer, kEnoughSums - 1, 0)) << "slow products";
  EXPECT_FALSE(chosen(plane(256, 512, 1, 7, 3, 1), 0)) << "weights that take long to read";
  EXPECT_TRUE(chosen(plane(256, 512, 1, 7, 3, 1), 49)) << "which many outputs outweigh";
  EXPECT_FALSE(chosen(plane(512, 1024, 1, 7, 3, 1), 49));
  EXPECT_FALSE(chosen(plane(1024, 16, 1, 7, 3, 1), 49)) << "deep sums";
  EXPECT_FALSE(chosen(plane(3, 64, 1, 56, 3, 1), 0)) << "few inputs";
  EXPECT_FALSE(chosen(plane(64, 3, 1, 56, 3, 1), 0)) << "few outputs";
  EXPECT_TRUE(chosen(plane(64, 64, 1, 56, 3, 2), 28 * 28)) << "steps of two";
  EXPECT_FALSE(chosen(plane(64, 64, 1, 14, 3, 2), 7 * 7)) << "few positions of those";
  EXPECT_FALSE(chosen(plane(64, 64, 1, 56, 3, 3), 0)) << "of three";
  EXPECT_FALSE(chosen(dilated, 0)) << "dilation";
  EXPECT_FALSE(chosen(plane(64, 64, 2, 56, 3, 1), 0)) << "groups";
  EXPECT_FALSE(chosen(plane(64, 64, 1, 56, 5, 1), 0)) << "5x5";
}

ORTOLAN_FOR_EACH_ISA(ConvF32);

}  // namespace
}  // namespace ortolan::cpu::kernels
