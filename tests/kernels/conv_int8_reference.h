// Convolutions of bytes in 64-bit sums, and operands to try them with.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "cpu/kernels/convolution_int8/conv_int8.h"
#include "isa_test.h"
#include "pools.h"

namespace ortolan::cpu::kernels {

inline int64_t value(uint8_t byte, bool is_signed) { return is_signed ? static_cast<int8_t>(byte) : byte; }

inline ConvGeometry geometry(int64_t channels, int64_t out_channels, int64_t groups, int64_t size, int64_t kernel,
                             int64_t stride, int64_t dilation, int64_t pad) {
  ConvGeometry g;
  g.batch = 2, g.in_channels = channels, g.out_channels = out_channels, g.groups = groups;
  for (int a = 1; a < 3; ++a) {
    g.in[a] = size + a, g.kernel[a] = kernel, g.stride[a] = stride, g.dilation[a] = dilation, g.pad_begin[a] = pad;
    g.out[a] = (g.in[a] + 2 * pad - (kernel - 1) * dilation - 1) / stride + 1;
  }
  return g;
}

// Windows of 3x3 over two slices, with slices of padding around them.
inline ConvGeometry slices(int64_t channels, int64_t out_channels, int64_t groups, int64_t pad) {
  ConvGeometry g = geometry(channels, out_channels, groups, 4, 3, 1, 1, 1);
  g.in[0] = 2, g.out[0] = 2 + 2 * pad, g.pad_begin[0] = pad;
  return g;
}

/** A convolution whose operands are of some form, a number whose bits are choices. */
struct ConvForm {
  ConvGeometry g;
  bool x_signed, w_signed, per_channel, with_zeros;
  std::vector<uint8_t> x, w, w_zero;

  int64_t depth() const { return g.in_channels / g.groups; }
  int64_t taps() const { return g.kernel[1] * g.kernel[2]; }
  int64_t out_plane() const { return g.out[0] * g.out[1] * g.out[2]; }
  int64_t channel_of(int64_t i) const { return i / out_plane() % g.out_channels; }
  ConvInt8 operands() const {
    const int x_zero = with_zeros ? (x_signed ? -7 : 130) : 0;
    return {x.data(), x_signed, x_zero, with_zeros ? w_zero.data() : nullptr, per_channel};
  }
  /** The result's element i. */
  int64_t sum(int64_t i) const {
    const int64_t channel = channel_of(i), zw = with_zeros ? value(w_zero[per_channel ? channel : 0], w_signed) : 0;
    int64_t sum = 0;
    for (int64_t c = 0; c < depth(); ++c) {
      for (int64_t tap = 0; tap < taps(); ++tap) {
        const int64_t at = place_in_x(i, c, tap);
        if (at < 0) continue;
        const int64_t weight = value(w[(channel * depth() + c) * taps() + tap], w_signed) - zw;
        sum += (value(x[at], x_signed) - operands().x_zero) * weight;
      }
    }
    return sum;
  }

 private:
  /** Where element i of the result reads channel c of its group; negative in the padding. */
  int64_t place_in_x(int64_t i, int64_t c, int64_t tap) const {
    const int64_t image = i / out_plane() / g.out_channels, group = channel_of(i) / (g.out_channels / g.groups);
    const int64_t oh = i % out_plane() / g.out[2] % g.out[1], ow = i % g.out[2];
    const int64_t d = i % out_plane() / g.out[2] / g.out[1] - g.pad_begin[0];
    const int64_t ih = oh * g.stride[1] - g.pad_begin[1] + tap / g.kernel[2] * g.dilation[1];
    const int64_t iw = ow * g.stride[2] - g.pad_begin[2] + tap % g.kernel[2] * g.dilation[2];
    if (d < 0 || d >= g.in[0] || ih < 0 || ih >= g.in[1] || iw < 0 || iw >= g.in[2]) return -1;
    const int64_t plane = image * g.in_channels + group * depth() + c;
    return ((plane * g.in[0] + d) * g.in[1] + ih) * g.in[2] + iw;
  }
};

class ByteTest : public IsaTest {
 protected:
  std::vector<uint8_t> bytes(int64_t n) {
    std::vector<uint8_t> values(n);
    for (uint8_t& v : values) v = integer(0, 5) ? static_cast<uint8_t>(random_()) : (random_() & 1 ? 255 : 128);
    return values;
  }

  /** Weights of at most `most` either way, of which each is as large as can be that often. */
  std::vector<uint8_t> mostly_small(int64_t count, bool is_signed, double often, int64_t most = 30) {
    std::vector<uint8_t> weights(count);
    for (uint8_t& w : weights) {
      const bool is_large = static_cast<double>(integer(0, 9999)) < often * 10000;
      const int64_t value = !is_large ? integer(-most, most) : integer(0, 1) ? 127 : -128;
      w = static_cast<uint8_t>(value + (is_signed ? 0 : 128));
    }
    return weights;
  }

  ConvForm conv_form(const ConvGeometry& g, int form) {
    ConvForm f{g, (form & 1) != 0, (form & 2) != 0, (form & 4) != 0, (form & 8) != 0, {}, {}, {}};
    f.x = bytes(g.batch * g.in_channels * g.in[0] * g.in[1] * g.in[2]);
    f.w = bytes(g.out_channels * f.depth() * f.taps());
    f.w_zero = bytes(g.out_channels);
    return f;
  }

  /** The sums, and the bytes that they become. */
  void expect_exact(const ConvForm& f, const PackedConvWeightsInt8& packed) {
    const ConvGeometry& g = f.g;
    std::vector<int32_t> y(g.batch * g.out_channels * f.out_plane());
    conv_int8(&two_threads(), g, f.operands(), packed, y.data());
    std::vector<float> scale(g.out_channels);
    for (float& v : scale) v = 1e-4f * static_cast<float>(integer(1, 50));
    const std::vector<int32_t> bias(g.out_channels, 321);
    std::vector<uint8_t> q(y.size());
    std::vector<int8_t> s(y.size());
    qlinear_conv(&two_threads(), g, f.operands(), packed, bias.data(), scale.data(), f.per_channel, 9, q.data());
    qlinear_conv(&two_threads(), g, f.operands(), packed, nullptr, scale.data(), f.per_channel, -3, s.data());
    for (size_t i = 0; i < y.size(); ++i) {
      const int64_t want = f.sum(static_cast<int64_t>(i));
      ASSERT_EQ(y[i], want) << "at " << i;
      const float factor = scale[f.per_channel ? f.channel_of(static_cast<int64_t>(i)) : 0];
      ASSERT_EQ(q[i], std::clamp(std::nearbyint(static_cast<float>(want + 321) * factor) + 9.0, 0.0, 255.0));
      ASSERT_EQ(s[i], std::clamp(std::nearbyint(static_cast<float>(want) * factor) - 3.0, -128.0, 127.0));
    }
  }

  void expect_same_for_every_number_of_threads(const ConvForm& f, const PackedConvWeightsInt8& packed) {
    std::vector<int32_t> want(f.g.batch * f.g.out_channels * f.out_plane()), y(want.size());
    conv_int8(nullptr, f.g, f.operands(), packed, want.data());
    for (size_t i = 0; i < want.size(); i += 97) ASSERT_EQ(want[i], f.sum(static_cast<int64_t>(i)));
    for (int threads : kThreadCounts) {
      std::fill(y.begin(), y.end(), 77);
      conv_int8(&pool_of(threads), f.g, f.operands(), packed, y.data());
      ASSERT_EQ(y, want) << f.g.in_channels << " to " << f.g.out_channels << ", " << threads << " threads";
    }
  }
};

}  // namespace ortolan::cpu::kernels
