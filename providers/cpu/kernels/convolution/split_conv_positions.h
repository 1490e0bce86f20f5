// How the outputs of a convolution on tiles are numbered, and what each tap reads for them. Internal to the kernels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cpu/kernels/convolution/conv_f32.h"

namespace ortolan::cpu::kernels {

inline int64_t plane_of(const int64_t (&dims)[3]) { return dims[1] * dims[2]; }

// Where a tap reads: the plane of inputs whose rows and columns leave the same remainders, and how far into it.
struct ConvTap {
  int64_t phase, shift;
};
struct ConvPhase {
  int64_t h, w;
  bool operator==(const ConvPhase&) const = default;
};

/**
 * Outputs are numbered with gaps: output (h, w) is position h*pitch + w, and each tap reads the input at a fixed
 * distance from it. Where a single tap reads the input as it is, the plane is one row without gaps.
 */
struct ConvPositions {
  explicit ConvPositions(const ConvGeometry& g);
  bool dense;
  int64_t pitch, count, halo;  // halo: how far beyond its last position a band reads
  std::vector<ConvPhase> phases;
  std::vector<ConvTap> taps;
};

inline bool reads_input_as_it_is(const ConvGeometry& g) {
  for (int a = 1; a < 3; ++a) {
    if (g.kernel[a] != 1 || g.stride[a] != 1 || g.pad_begin[a] != 0 || g.in[a] != g.out[a]) return false;
  }
  return true;
}

inline ConvPositions::ConvPositions(const ConvGeometry& g) : dense(reads_input_as_it_is(g)), halo(0) {
  const int64_t reach_h = (g.kernel[1] - 1) * g.dilation[1], reach_w = (g.kernel[2] - 1) * g.dilation[2];
  pitch = dense ? plane_of(g.out) : g.out[2] + reach_w / g.stride[2];
  count = dense ? pitch : (g.out[1] - 1) * pitch + g.out[2];
  for (int64_t h = 0; h <= reach_h; h += g.dilation[1]) {
    for (int64_t w = 0; w <= reach_w; w += g.dilation[2]) {
      const ConvPhase phase = {h % g.stride[1], w % g.stride[2]};
      const auto found = std::find(phases.begin(), phases.end(), phase);
      taps.push_back({found - phases.begin(), h / g.stride[1] * pitch + w / g.stride[2]});
      if (found == phases.end()) phases.push_back(phase);
      halo = std::max(halo, taps.back().shift);
    }
  }
}

// Where dilation or stride would make the numbered positions absurdly many.
inline bool too_spread(const ConvGeometry& g) {
  double positions = 1, present = 1 << 16;
  for (int a = 1; a < 3; ++a) {
    const double reach = static_cast<double>(g.kernel[a] - 1) * static_cast<double>(g.dilation[a]);
    positions *= static_cast<double>(g.out[a]) + reach / static_cast<double>(g.stride[a]) + 1;
  }
  present += 8.0 * (static_cast<double>(plane_of(g.in)) + static_cast<double>(plane_of(g.out)));
  return positions > present;
}

}  // namespace ortolan::cpu::kernels
