// fp64 convolutions: for every tap of the kernel, one scaled strip of the input is added to one of the output.
#include "cpu/convolution/convolution_f64.h"

#include <algorithm>

#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"

namespace ortolan::cpu {
namespace {
using kernels::ConvGeometry;

int64_t volume(const int64_t (&dims)[3]) { return dims[0] * dims[1] * dims[2]; }

/** Positions p in [0, count) whose image p*stride + shift lies in [0, limit). */
std::pair<int64_t, int64_t> inside(int64_t count, int64_t stride, int64_t shift, int64_t limit) {
  int64_t begin = shift >= 0 ? 0 : (-shift - 1) / stride + 1;
  int64_t end = limit - 1 - shift < 0 ? 0 : std::min(count, (limit - 1 - shift) / stride + 1);
  return {begin, std::max(begin, end)};
}

/** Calls strip(small_offset, count, large_offset) for the rows where tap `tap` joins positions of the grid that strides
    (`small`) with positions of the other (`large`). */
template <class Strip>
void for_tap(const ConvGeometry& g, const int64_t (&small)[3], const int64_t (&large)[3], int64_t tap, Strip&& strip) {
  int64_t at[3] = {tap / (g.kernel[1] * g.kernel[2]), tap / g.kernel[2] % g.kernel[1], tap % g.kernel[2]};
  std::pair<int64_t, int64_t> range[3];
  int64_t shift[3];
  for (int d = 0; d < 3; ++d) {
    shift[d] = at[d] * g.dilation[d] - g.pad_begin[d];
    range[d] = inside(small[d], g.stride[d], shift[d], large[d]);
  }
  for (int64_t i = range[0].first; i < range[0].second; ++i) {
    for (int64_t j = range[1].first; j < range[1].second; ++j) {
      int64_t row = (i * g.stride[0] + shift[0]) * large[1] + j * g.stride[1] + shift[1];
      strip((i * small[1] + j) * small[2] + range[2].first, range[2].second - range[2].first,
            row * large[2] + range[2].first * g.stride[2] + shift[2]);
    }
  }
}

/** Calls body(image, channel) for every output plane, in parallel, after filling the plane with its bias. */
template <class Body>
void for_planes(base::ThreadPool* pool, const ConvGeometry& g, const double* bias, double* y, Body&& body) {
  int64_t plane = volume(g.out);
  base::parallel_for(pool, g.batch * g.out_channels, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t channel = i % g.out_channels;
      std::fill_n(y + i * plane, plane, bias ? bias[channel] : 0.0);
      body(i / g.out_channels, channel, y + i * plane);
    }
  });
}

}  // namespace

void conv_f64(base::ThreadPool* pool, const ConvGeometry& g, const double* x, const double* w, const double* bias,
              double* y) {
  int64_t inputs = g.in_channels / g.groups, outputs = g.out_channels / g.groups;
  int64_t taps = volume(g.kernel), plane = volume(g.in);
  for_planes(pool, g, bias, y, [&](int64_t image, int64_t channel, double* out) {
    const double* in = x + (image * g.in_channels + channel / outputs * inputs) * plane;
    base::TerminatePoll poll;
    for (int64_t i = 0; i < inputs * taps; ++i) {
      poll.work(std::min(plane, volume(g.out)));
      double weight = w[channel * inputs * taps + i];
      const double* from = in + i / taps * plane;
      for_tap(g, g.out, g.in, i % taps, [&](int64_t to, int64_t count, int64_t at) {
        for (int64_t p = 0; p < count; ++p) out[to + p] += weight * from[at + p * g.stride[2]];
      });
    }
  });
}

void conv_transpose_f64(base::ThreadPool* pool, const ConvGeometry& g, const double* x, const double* w,
                        const double* bias, double* y) {
  int64_t inputs = g.in_channels / g.groups, outputs = g.out_channels / g.groups;
  int64_t taps = volume(g.kernel), plane = volume(g.in);
  for_planes(pool, g, bias, y, [&](int64_t image, int64_t channel, double* out) {
    int64_t first = channel / outputs * inputs;
    base::TerminatePoll poll;
    for (int64_t i = 0; i < inputs * taps; ++i) {
      poll.work(std::min(plane, volume(g.out)));
      int64_t input = first + i / taps;
      double weight = w[(input * outputs + channel % outputs) * taps + i % taps];
      const double* from = x + (image * g.in_channels + input) * plane;
      for_tap(g, g.in, g.out, i % taps, [&](int64_t at, int64_t count, int64_t to) {
        for (int64_t p = 0; p < count; ++p) out[to + p * g.stride[2]] += weight * from[at + p];
      });
    }
  });
}

}  // namespace ortolan::cpu
