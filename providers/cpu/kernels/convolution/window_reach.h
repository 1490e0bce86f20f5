// Which taps of a window lie inside an image. Internal to the kernels.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ortolan::cpu::kernels {

/** The taps of a window along one axis that lie inside: the first, how many, and the place of the first; or zeros. */
struct Reach {
  int64_t tap, count, at;
};

/** Of the window of output `out`; Geometry has in, kernel, stride, dilation and pad_begin. */
template <class Geometry>
Reach reach_of(const Geometry& g, int axis, int64_t out) {
  const int64_t start = out * g.stride[axis] - g.pad_begin[axis], dilation = g.dilation[axis];
  const int64_t first = start >= 0 ? 0 : (-start + dilation - 1) / dilation;
  const int64_t end = start >= g.in[axis] ? 0 : std::min(g.kernel[axis], (g.in[axis] - 1 - start) / dilation + 1);
  return end > first ? Reach{first, end - first, start + first * dilation} : Reach{0, 0, 0};
}

}  // namespace ortolan::cpu::kernels
