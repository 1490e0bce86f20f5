// Convolution in double, and geometries to try it with.
#pragma once

#include <cstdint>
#include <vector>

#include "cpu/kernels/convolution/conv_f32.h"
#include "cpu/kernels/vectors/lengths.h"

namespace ortolan::cpu::kernels {

/** Calls visit(out position, tap, in position) for each pair that meets inside the input. */
template <class Visit>
void for_each_meeting(const ConvGeometry& g, Visit visit) {
  for (int64_t out = 0; out < volume(g.out); ++out) {
    const int64_t o[] = {out / (g.out[2] * g.out[1]), out / g.out[2] % g.out[1], out % g.out[2]};
    for (int64_t tap = 0; tap < volume(g.kernel); ++tap) {
      const int64_t t[] = {tap / (g.kernel[2] * g.kernel[1]), tap / g.kernel[2] % g.kernel[1], tap % g.kernel[2]};
      int64_t in = 0;
      bool inside = true;
      for (int a = 0; a < 3; ++a) {
        const int64_t i = o[a] * g.stride[a] + t[a] * g.dilation[a] - g.pad_begin[a];
        inside = inside && i >= 0 && i < g.in[a];
        in = in * g.in[a] + i;
      }
      if (inside) visit(out, tap, in);
    }
  }
}

inline std::vector<double> reference(const ConvGeometry& g, const std::vector<float>& x, const std::vector<float>& w) {
  const int64_t rows = g.out_channels / g.groups, depth = g.in_channels / g.groups, taps = volume(g.kernel);
  std::vector<double> y(g.batch * g.out_channels * volume(g.out));
  for (int64_t plane = 0; plane < g.batch * g.out_channels; ++plane) {
    const int64_t channel = plane % g.out_channels, image = plane / g.out_channels, group = channel / rows;
    for (int64_t c = 0; c < depth; ++c) {
      const float* in = x.data() + (image * g.in_channels + group * depth + c) * volume(g.in);
      const float* weights = w.data() + (channel * depth + c) * taps;
      for_each_meeting(g, [&](int64_t out, int64_t tap, int64_t at) {
        y[plane * volume(g.out) + out] += double{weights[tap]} * in[at];
      });
    }
  }
  return y;
}

inline void set_out(ConvGeometry& g, const int64_t (&pad_end)[3]) {
  for (int a = 0; a < 3; ++a) {
    const int64_t padded = g.in[a] + g.pad_begin[a] + pad_end[a];
    g.out[a] = (padded - (g.kernel[a] - 1) * g.dilation[a] - 1) / g.stride[a] + 1;
  }
}

/** Random weights up to `most` wide over images of up to `places` places more, in the dimensions from `first` on;
    integer(low, high) draws. */
template <class Integer>
void set_windows(ConvGeometry& g, int first, int64_t most, int64_t places, Integer integer) {
  int64_t pad_end[3] = {0, 0, 0};
  for (int a = first; a < 3; ++a) {
    g.kernel[a] = integer(1, most);
    g.dilation[a] = integer(1, 2);
    g.stride[a] = integer(1, 3);
    g.in[a] = (g.kernel[a] - 1) * g.dilation[a] + integer(1, places);
    g.pad_begin[a] = integer(0, 3);
    pad_end[a] = integer(0, 3);
  }
  set_out(g, pad_end);
}

inline Activation some_activation(int64_t i) {
  const Activation all[] = {{}, {UnaryOp::kRelu}, {UnaryOp::kClip, -1, 1}, {UnaryOp::kSilu}};
  return all[i % 4];
}

/** One square image, square weights, padded by half their size on both sides. */
inline ConvGeometry plane(int64_t channels, int64_t out_channels, int64_t groups, int64_t size, int64_t kernel,
                          int64_t stride) {
  ConvGeometry g;
  g.in_channels = channels, g.out_channels = out_channels, g.groups = groups;
  g.in[1] = g.in[2] = size;
  g.kernel[1] = g.kernel[2] = kernel;
  g.stride[1] = g.stride[2] = stride;
  g.pad_begin[1] = g.pad_begin[2] = kernel / 2;
  set_out(g, {0, kernel / 2, kernel / 2});
  return g;
}

}  // namespace ortolan::cpu::kernels
