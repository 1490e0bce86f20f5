// Depthwise convolution, plane by plane: straight from the input, or from a plane with its padding written out.
#include <algorithm>

#include "base/error.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/convolution/conv_f32_kernels.h"
#include "cpu/kernels/convolution/conv_f32_weights.h"
#include "cpu/kernels/division/row_division.h"
#include "cpu/kernels/division/threads.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/vector_f32.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/scratch.h"
#include "cpu/kernels/vectors/lengths.h"

namespace ortolan::cpu::kernels {
namespace {

/** Rows of a plane of outputs. */
struct PlanePart {
  int64_t plane, first, rows;
};

double output_row_ns(const ConvGeometry& g, int64_t taps) {
  return static_cast<double>(g.out[2] * taps) * kDepthwiseTapNs;
}

// Every output plane in parts of `rows` rows, by what prepare() returns once for each piece of the work.
template <class Prepare>
void for_each_part(base::ThreadPool* pool, const ConvGeometry& g, int64_t rows, double row_ns, Prepare prepare) {
  const int64_t parts = divide_up(g.out[1], rows);
  const int64_t least = least_items(static_cast<double>(rows) * row_ns);
  base::parallel_for(pool, g.batch * g.out_channels * parts, least, [&](int64_t begin, int64_t end) {
    auto run = prepare();
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % parts * rows;
      run(PlanePart{i / parts, first, std::min(rows, g.out[1] - first)});
    }
  });
}

// The depthwise convolution of one call, plane by plane.
struct Depthwise {
  const ConvGeometry& geometry;
  const float* x;
  const PackedConvWeights::Storage& weights;
  const ConvEpilogue& epilogue;
  float* y;
  Clamp clamp = clamp_of(epilogue.activation);
  int64_t in_plane = volume(geometry.in), out_plane = volume(geometry.out);

  int64_t channel(int64_t plane) const { return plane % geometry.out_channels; }
  const float* input(int64_t plane) const {
    const int64_t image = plane / geometry.out_channels;
    return x + (image * geometry.in_channels + channel(plane) / weights.group_rows) * in_plane;
  }
  const float* taps(int64_t plane) const { return weights.data.as<float>() + channel(plane) * weights.taps; }
  float bias(int64_t plane) const { return epilogue.bias == nullptr ? 0 : epilogue.bias[channel(plane)]; }
  const float* residual(int64_t plane) const {
    return epilogue.residual == nullptr ? nullptr : epilogue.residual + plane * out_plane;
  }
  float* output(int64_t plane) const { return y + plane * out_plane; }
  void activate(const PlanePart& part) const {
    if (is_clamp(epilogue.activation.op)) return;
    float* rows = output(part.plane) + part.first * geometry.out[2];
    unary(epilogue.activation, rows, rows, part.rows * geometry.out[2]);
  }
};

/** The rows of the input that those of `part` meet, as a plane. */
DirectPlane direct_plane(const Depthwise& d, const PlanePart& part) {
  const ConvGeometry& g = d.geometry;
  const int64_t top = part.first * g.stride[1] - g.pad_begin[1], above = std::max<int64_t>(top, 0);
  const int64_t at = part.first * g.out[2];
  const float* residual = d.residual(part.plane);
  return {d.input(part.plane) + above * g.in[2],
          g.in[1] - above,
          g.in[2],
          above - top,
          g.pad_begin[2],
          d.taps(part.plane),
          part.rows,
          g.out[2],
          d.bias(part.plane),
          residual == nullptr ? nullptr : residual + at,
          d.clamp.low,
          d.clamp.high,
          d.output(part.plane) + at};
}

/** Rows of parts; whole planes where the last rows meet nothing but padding. */
int64_t direct_rows(const ConvGeometry& g, double row_ns, int degree) {
  const bool meets_input = (g.out[1] - 1) * g.stride[1] - g.pad_begin[1] < g.in[1];
  return meets_input ? plane_rows(g.batch * g.out_channels, g.out[1], row_ns, degree) : g.out[1];
}

void depthwise_from_input(base::ThreadPool* pool, const Depthwise& d, DepthwiseDirect kernel) {
  const double row_ns = output_row_ns(d.geometry, d.weights.taps);
  const int64_t rows = direct_rows(d.geometry, row_ns, threads_of(pool));
  for_each_part(pool, d.geometry, rows, row_ns, [&] {
    return [&d, kernel](const PlanePart& part) {
      kernel(direct_plane(d, part));
      d.activate(part);
    };
  });
}

void depthwise_from_spread(base::ThreadPool* pool, const Depthwise& d) {
  const ConvGeometry& g = d.geometry;
  const DepthwiseLayout layout(g);
  const auto& kernel = *kernels().conv_f32;
  AlignedBuffer offsets(static_cast<size_t>(d.weights.taps) * sizeof(int64_t));
  layout.offsets(g, offsets.as<int64_t>());
  for_each_part(pool, g, g.out[1], output_row_ns(g, d.weights.taps), [&] {
    Scratch<float> spread_space(layout.size()), tile(layout.scratch(g));
    std::fill_n(spread_space.data(), layout.size(), 0.0f);
    return [&, spread_space = std::move(spread_space), tile = std::move(tile)](const PlanePart& part) {
      const int64_t plane = part.plane;
      float* const spread = spread_space.data();
      kernel.spread_plane(g, d.input(plane), layout.plane(), layout.row(), spread);
      kernel.depthwise({spread, layout.row(), d.taps(plane), offsets.as<int64_t>(), d.weights.taps, g.out[1], g.out[2],
                        d.bias(plane), d.residual(plane), d.clamp.low, d.clamp.high, d.output(plane), tile.data()});
      d.activate(part);
    };
  });
}

}  // namespace

void check_padding(const ConvGeometry& g) {
  double padded = 1, present = 1 << 20;
  for (int a = 0; a < 3; ++a) {
    const double reach = static_cast<double>(g.out[a] - 1) * static_cast<double>(g.stride[a]) +
                         static_cast<double>(g.kernel[a] - 1) * static_cast<double>(g.dilation[a]) + 1;
    padded *= std::max(reach, static_cast<double>(g.in[a]) + static_cast<double>(g.pad_begin[a])) +
              static_cast<double>(g.stride[a]);
  }
  present += 64.0 * (static_cast<double>(volume(g.in)) + static_cast<double>(volume(g.out)));
  base::require(padded <= present, base::ErrorCode::kInvalidArgument, "convolution: an input plane of ", volume(g.in),
                " elements becomes ", padded, " with its padding; give smaller pads, strides or dilations");
}

DepthwiseLayout::DepthwiseLayout(const ConvGeometry& g) {
  check_padding(g);
  int64_t size[3];
  for (int a = 1; a < 3; ++a) {
    const int64_t reach = (g.out[a] - 1) * g.stride[a] + (g.kernel[a] - 1) * g.dilation[a] + 1;
    size[a] = (std::max(reach, g.in[a] + g.pad_begin[a]) + g.stride[a] - 1) / g.stride[a];
  }
  phases_ = g.stride[1] * g.stride[2];
  row_ = size[2];
  plane_ = size[1] * size[2];
}

void DepthwiseLayout::offsets(const ConvGeometry& g, int64_t* to) const {
  for (int64_t h = 0; h < g.kernel[1]; ++h) {
    for (int64_t w = 0; w < g.kernel[2]; ++w) {
      const int64_t at_h = h * g.dilation[1], at_w = w * g.dilation[2];
      const int64_t phase = at_h % g.stride[1] * g.stride[2] + at_w % g.stride[2];
      *to++ = phase * plane_ + at_h / g.stride[1] * row_ + at_w / g.stride[2];
    }
  }
}

DepthwiseDirect direct_depthwise(const ConvGeometry& g) {
  const bool square = g.kernel[1] == g.kernel[2] && g.stride[1] == g.stride[2];
  if (!square || g.dilation[1] != 1 || g.dilation[2] != 1) return nullptr;
  return kernels().conv_f32->direct_depthwise(g.kernel[1], g.stride[1]);
}

void conv_depthwise(base::ThreadPool* pool, const ConvGeometry& g, const float* x, const PackedConvWeights::Storage& w,
                    const ConvEpilogue& epilogue, float* y) {
  const Depthwise d{g, x, w, epilogue, y};
  if (const DepthwiseDirect kernel = direct_depthwise(g)) {
    depthwise_from_input(pool, d, kernel);
  } else {
    depthwise_from_spread(pool, d);
  }
}

}  // namespace ortolan::cpu::kernels
