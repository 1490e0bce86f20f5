// Tests of fp32 transposed convolution, by phases and by shares, against double sums, on every instruction set.
#include "cpu/kernels/convolution/conv_transpose_f32.h"

#include <algorithm>

#include "../thrown_text.h"
#include "base/error.h"
#include "conv_reference.h"
#include "isa_test.h"
#include "pools.h"

namespace ortolan::cpu::kernels {
namespace {

/** Sums of a transposed convolution: what the convolution from its result to its input says, read backwards. */
std::vector<double> transposed_reference(const ConvGeometry& g, const std::vector<float>& x,
                                         const std::vector<float>& w) {
  ConvGeometry forward = g;
  std::swap(forward.in, forward.out);
  const int64_t depth = g.in_channels / g.groups, channels = g.out_channels / g.groups, taps = volume(g.kernel);
  std::vector<double> y(g.batch * g.out_channels * volume(g.out));
  for (int64_t plane = 0; plane < g.batch * g.out_channels; ++plane) {
    const int64_t image = plane / g.out_channels, channel = plane % g.out_channels, group = channel / channels;
    for (int64_t c = group * depth; c < (group + 1) * depth; ++c) {
      const float* in = x.data() + (image * g.in_channels + c) * volume(g.in);
      const float* weights = w.data() + (c * channels + channel % channels) * taps;
      for_each_meeting(forward, [&](int64_t at, int64_t tap, int64_t out) {
        y[plane * volume(g.out) + out] += double{weights[tap]} * in[at];
      });
    }
  }
  return y;
}

/** Values for one geometry, and what they must give. */
struct Layer {
  ConvGeometry g;
  std::vector<float> x, w, bias;
  Activation activation;

  ConvEpilogue epilogue() const { return {bias.data(), nullptr, activation}; }
  void expect_near(const std::vector<float>& y, const char* way) const {
    const std::vector<double> want = transposed_reference(g, x, w);
    const double sums = static_cast<double>(g.in_channels / g.groups * volume(g.kernel));
    for (size_t i = 0; i < want.size(); ++i) {
      double v = want[i] + bias[i / volume(g.out) % g.out_channels];
      if (activation.op == UnaryOp::kRelu) v = std::max(v, 0.0);
      if (activation.op == UnaryOp::kClip) v = std::min(std::max<double>(v, activation.p0), double{activation.p1});
      if (activation.op == UnaryOp::kSilu) v = v / (1 + std::exp(-v));
      ASSERT_NEAR(y[i], v, 2e-6 * (4 + std::sqrt(sums) * 4))
          << way << ": channels " << g.in_channels << "->" << g.out_channels << " groups " << g.groups << " in "
          << g.in[1] << "x" << g.in[2] << " kernel " << g.kernel[1] << "x" << g.kernel[2] << " stride " << g.stride[1]
          << "," << g.stride[2] << " pad " << g.pad_begin[1] << "," << g.pad_begin[2] << " at " << i;
    }
  }
};

class ConvTransposeF32 : public IsaTest {
 protected:
  Layer layer(const ConvGeometry& g) {
    return {g, normal(g.batch * g.in_channels * volume(g.in)),
            normal(g.in_channels * (g.out_channels / g.groups) * volume(g.kernel)), normal(g.out_channels),
            some_activation(integer(0, 3))};
  }
  /** Results of both ways where phases are possible, else of shares. */
  void check(const Layer& l) {
    std::vector<float> y(l.g.batch * l.g.out_channels * volume(l.g.out), NAN);
    conv_transpose(&two_threads(), l.g, l.x.data(), l.w.data(), l.epilogue(), y.data());
    l.expect_near(y, "shares");
    if (!suits_phases(l.g)) return;
    ++by_phases_;
    std::fill(y.begin(), y.end(), NAN);
    const PackedTransposedWeights packed = pack_conv_transpose_weights(&two_threads(), l.g, l.w.data());
    conv_transpose(&two_threads(), l.g, l.x.data(), packed, l.epilogue(), y.data());
    l.expect_near(y, "phases");
    std::vector<float> alone(y.size(), NAN);
    conv_transpose(nullptr, l.g, l.x.data(), packed, l.epilogue(), alone.data());
    EXPECT_EQ(alone, y) << "results depend on the number of threads";
  }
  ConvGeometry random_geometry(int rank) {
    ConvGeometry g;
    g.batch = integer(1, 2);
    g.groups = integer(0, 2) ? 1 : integer(2, 6);
    const bool depthwise = integer(0, 3) == 0;
    g.in_channels = g.groups * (depthwise ? 1 : integer(1, 20));
    g.out_channels = g.groups * (depthwise ? 1 : integer(1, 40));
    for (int a = 3 - rank; a < 3; ++a) {
      g.kernel[a] = integer(1, 5);
      g.dilation[a] = integer(0, 3) ? 1 : integer(2, 3);
      g.stride[a] = integer(1, 4);
      g.in[a] = integer(1, rank == 3 ? 6 : 20);
      g.pad_begin[a] = integer(0, 1) ? g.kernel[a] / 2 : integer(0, 3);
      const int64_t full = (g.in[a] - 1) * g.stride[a] + (g.kernel[a] - 1) * g.dilation[a] + 1;
      g.out[a] = std::max<int64_t>(1, full - g.pad_begin[a] - integer(-2, 2));
    }
    return g;
  }
  int by_phases_ = 0;
};

TEST_P(ConvTransposeF32, MatchesDoubleSums) {
  for (int round = 0; round < 80; ++round) check(layer(random_geometry(1 + round % 3)));
  EXPECT_GT(by_phases_, 5);
}

ConvGeometry upsampling(int64_t channels, int64_t out_channels, int64_t size, int64_t kernel, int64_t pad) {
  ConvGeometry g = plane(channels, out_channels, 1, size, kernel, 2);
  for (int a = 1; a < 3; ++a) {
    g.pad_begin[a] = pad;
    g.out[a] = 2 * size;
  }
  return g;
}

TEST_P(ConvTransposeF32, UsualUpsamplings) {
  const ConvGeometry geometries[] = {upsampling(32, 24, 9, 2, 0), upsampling(40, 33, 7, 4, 1),
                                     upsampling(16, 8, 12, 3, 1), plane(24, 32, 1, 14, 3, 1), plane(8, 8, 8, 10, 3, 1)};
  for (const ConvGeometry& g : geometries) {
    EXPECT_TRUE(suits_phases(g)) << g.kernel[1];
    check(layer(g));
  }
  EXPECT_EQ(by_phases_, static_cast<int>(std::size(geometries)));
}

TEST_P(ConvTransposeF32, MoreStrideThanTapsLeavesTheBias) {
  ConvGeometry g = upsampling(3, 5, 6, 1, 0);
  check(layer(g));
  EXPECT_EQ(by_phases_, 1);
}

TEST_P(ConvTransposeF32, FewInputsAndCutOnesTakeShares) {
  ConvGeometry one = plane(20, 30, 1, 1, 4, 1);
  one.pad_begin[1] = one.pad_begin[2] = 0;
  one.out[1] = one.out[2] = 4;
  EXPECT_FALSE(suits_phases(one));
  check(layer(one));
  ConvGeometry cut = upsampling(4, 4, 8, 2, 1);
  cut.out[1] = cut.out[2] = 14;
  EXPECT_FALSE(suits_phases(cut));
  check(layer(cut));
  const std::vector<float> x(4 * 64), w(4 * 4 * 4);
  std::vector<float> y(4 * 14 * 14);
  const PackedTransposedWeights packed = pack_conv_transpose_weights(nullptr, cut, w.data());
  EXPECT_TRUE(test::throws("need weights that are not packed",
                           [&] { conv_transpose(nullptr, cut, x.data(), packed, {}, y.data()); }));
}

ORTOLAN_FOR_EACH_ISA(ConvTransposeF32);

}  // namespace
}  // namespace ortolan::cpu::kernels
