// fp32 transposed convolution by shares: a product gives each input element's share of each tap, then shares are added
// in place.
#include <algorithm>

#include "base/error.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/aligned_buffer.h"
#include "cpu/kernels/convolution/conv_transpose_f32.h"
#include "cpu/kernels/division/row_division.h"
#include "cpu/kernels/division/threads.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/vector_f32.h"
#include "cpu/kernels/products/gemm_f32.h"
#include "cpu/kernels/vectors/lengths.h"

namespace ortolan::cpu::kernels {
namespace {

// Input positions [first, end) along an axis whose share through a tap lands inside the result.
struct Landing {
  int64_t first, end, shift;
};

Landing landing(const ConvGeometry& g, int axis, int64_t tap) {
  const int64_t shift = tap * g.dilation[axis] - g.pad_begin[axis], stride = g.stride[axis];
  const int64_t first = shift >= 0 ? 0 : (-shift - 1) / stride + 1;
  const int64_t end = shift >= g.out[axis] ? 0 : std::min(g.in[axis], (g.out[axis] - 1 - shift) / stride + 1);
  return {first, end, shift};
}

/** Rows of a plane of results, or all of them where planes have several slices. */
struct ResultRows {
  int64_t plane, first, end;
};

/** What is left of a landing whose results lie in rows [first, end). */
Landing within(const ConvGeometry& g, const ResultRows& rows, Landing h) {
  const auto input_of = [&](int64_t row) { return row <= h.shift ? 0 : divide_up(row - h.shift, g.stride[1]); };
  return {std::max(h.first, input_of(rows.first)), std::min(h.end, input_of(rows.end)), h.shift};
}

void add_tap(const ConvGeometry& g, const ResultRows& rows, const float* shares, int64_t kd, int64_t kh, int64_t kw,
             float* y) {
  const Landing d = landing(g, 0, kd), h = within(g, rows, landing(g, 1, kh)), w = landing(g, 2, kw);
  for (int64_t id = d.first; id < d.end; ++id) {
    for (int64_t ih = h.first; ih < h.end; ++ih) {
      const int64_t od = id * g.stride[0] + d.shift, oh = ih * g.stride[1] + h.shift;
      const float* from = shares + (id * g.in[1] + ih) * g.in[2];
      float* to = y + (od * g.out[1] + oh) * g.out[2] + w.shift;
      for (int64_t iw = w.first; iw < w.end; ++iw) to[iw * g.stride[2]] += from[iw];
    }
  }
}

/** Adds them to the rows, which hold what the sums start with. `y` is the plane. */
void add_shares(const ConvGeometry& g, const ResultRows& rows, const float* shares, float* y) {
  const int64_t in_plane = volume(g.in);
  for (int64_t kd = 0; kd < g.kernel[0]; ++kd) {
    for (int64_t kh = 0; kh < g.kernel[1]; ++kh) {
      for (int64_t kw = 0; kw < g.kernel[2]; ++kw, shares += in_plane) add_tap(g, rows, shares, kd, kh, kw, y);
    }
  }
}

/** [count][taps][in...]: what each input gives through each tap of `count` channels of a group. */
void compute_shares(base::ThreadPool* pool, const ConvGeometry& g, const float* weights, int64_t count, const float* x,
                    float* shares) {
  const int64_t rows = count * volume(g.kernel), in_plane = volume(g.in), depth = g.in_channels / g.groups;
  const int64_t stride = g.out_channels / g.groups * volume(g.kernel);
  if (in_plane == 1) {  // a product with one row, which reads weights as they lie
    gemm(pool, 1, rows, depth, x, depth, false, weights, stride, false, shares, rows, {});
  } else {
    gemm(pool, rows, in_plane, depth, weights, stride, true, x, in_plane, false, shares, in_plane, {});
  }
}

/** The results of `count` planes from their shares. */
void add_channels(base::ThreadPool* pool, const ConvGeometry& g, int64_t first, int64_t count, const float* shares,
                  const ConvEpilogue& epilogue, float* y) {
  const int64_t plane_shares = volume(g.kernel) * volume(g.in), out_plane = volume(g.out);
  const double row_ns = static_cast<double>(plane_shares + out_plane) * kPackNs / static_cast<double>(g.out[1]);
  const int64_t rows = g.out[0] == 1 ? plane_rows(count, g.out[1], row_ns, threads_of(pool)) : g.out[1];
  const int64_t parts = divide_up(g.out[1], rows), least = least_items(static_cast<double>(rows) * row_ns);
  base::parallel_for(pool, count * parts, least, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t from = i % parts * rows;
      const ResultRows part{first + i / parts, from, std::min(g.out[1], from + rows)};
      float* plane = y + part.plane * out_plane;
      const int64_t at = part.first * g.out[2], size = (part.end - part.first) * g.out[2] * g.out[0];
      std::fill_n(plane + at, size, epilogue.bias != nullptr ? epilogue.bias[part.plane % g.out_channels] : 0.0f);
      add_shares(g, part, shares + i / parts * plane_shares, plane);
      if (epilogue.residual != nullptr) {
        binary(BinaryOp::kAdd, plane + at, epilogue.residual + part.plane * out_plane + at, plane + at, size);
      }
      unary(epilogue.activation, plane + at, plane + at, size);
    }
  });
}

}  // namespace

void conv_transpose(base::ThreadPool* pool, const ConvGeometry& g, const float* x, const float* weights,
                    const ConvEpilogue& epilogue, float* y) {
  const int64_t taps = volume(g.kernel), in_plane = volume(g.in), out_plane = volume(g.out);
  const int64_t depth = g.in_channels / g.groups, channels = g.out_channels / g.groups;
  if (g.batch * g.out_channels * out_plane == 0) return;
  constexpr int64_t kLargest = int64_t{4} << 20;  // floats of shares at once
  constexpr double kMost = 1 << 29;
  base::require(static_cast<double>(taps) * static_cast<double>(in_plane) <= kMost, base::ErrorCode::kNotImplemented,
                "transposed convolution: ", taps, " taps on a plane of ", in_plane,
                " elements need more memory than one step may take; give at most ", kMost, " products of the two");
  const int64_t at_once = std::clamp<int64_t>(kLargest / std::max<int64_t>(1, taps * in_plane), 1, channels);
  AlignedBuffer shares(static_cast<size_t>(at_once * taps * in_plane) * sizeof(float));
  for (int64_t group = 0; group < g.batch * g.groups; ++group) {
    const float* w = weights + group % g.groups * depth * channels * taps;
    for (int64_t first = 0; first < channels; first += at_once) {
      const int64_t count = std::min(at_once, channels - first);
      compute_shares(pool, g, w + first * taps, count, x + group * depth * in_plane, shares.as<float>());
      add_channels(pool, g, group * channels + first, count, shares.as<float>(), epilogue, y);
    }
  }
}

}  // namespace ortolan::cpu::kernels
