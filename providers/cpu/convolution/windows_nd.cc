// Windows over any number of dimensions: their places, gathered columns for products, and pools.
#include "cpu/convolution/windows_nd.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/threads/run_scope.h"
#include "base/threads/thread_pool.h"
#include "cpu/elements/float_tensors.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/vector_f32.h"
#include "cpu/kernels/products/gemm_f32.h"

namespace ortolan::cpu {
namespace {

constexpr int64_t kBlock = 64;             // windows whose places are found at a time
constexpr int64_t kColumnBytes = 8 << 20;  // of gathered columns at a time

template <class C>
void product(ThreadPool& pool, int64_t m, int64_t n, int64_t k, const C* a, int64_t lda, bool trans_a, const C* b,
             int64_t ldb, C* c, int64_t ldc) {
  if constexpr (std::is_same_v<C, float>) {
    kernels::gemm(&pool, m, n, k, a, lda, trans_a, b, ldb, false, c, ldc, {});
  } else {
    kernels::gemm_f64(&pool, m, n, k, 1, a, lda, trans_a, b, ldb, false, 0, c, ldc);
  }
}

struct Channels {
  int64_t batch, groups, inputs, outputs;  // the last two of one group
};

/** Windows gathered at a time so that `rows` rows of columns take kColumnBytes at most. */
template <class C>
int64_t tile_of(const WindowsNd& windows, int64_t rows) {
  int64_t fitting = kColumnBytes / (std::max<int64_t>(rows, 1) * static_cast<int64_t>(sizeof(C)));
  return std::min(windows.positions(), std::max<int64_t>(fitting / kBlock, 1) * kBlock);
}

/** Calls body(tap, block, size, places) for blocks of the windows [first, first + count), in parallel. */
template <class Body>
void for_blocks(ThreadPool& pool, const WindowsNd& windows, int64_t channels, int64_t first, int64_t count,
                Body&& body) {
  int64_t blocks = (count + kBlock - 1) / kBlock;
  const int64_t least = kernels::least_rows(kBlock * channels, kernels::kScalarNs);
  pool.parallel_for(windows.taps() * blocks, least, [&](int64_t begin, int64_t end) {
    int64_t places[kBlock];
    for (int64_t i = begin; i < end; ++i) {
      int64_t block = i % blocks * kBlock, size = std::min(kBlock, count - block);
      windows.elements(i / blocks, first + block, size, places);
      body(i / blocks, block, size, places);
    }
  });
}

template <class C>
void convolve(KernelContext& context, const WindowsNd& windows, const Channels& c, const C* x, const C* w, C* y) {
  int64_t channels = c.groups * c.inputs, depth = c.inputs * windows.taps();
  int64_t tile = tile_of<C>(windows, channels * windows.taps());
  C* columns = context.scratch<C>(checked_mul(channels * windows.taps(), tile)).data();
  for (int64_t image = 0; image < c.batch; ++image, x += channels * windows.plane()) {
    for (int64_t first = 0; first < windows.positions(); first += tile) {
      base::check_terminate();
      int64_t count = std::min(tile, windows.positions() - first);
      for_blocks(context.threads(), windows, channels, first, count,
                 [&](int64_t tap, int64_t block, int64_t size, const int64_t* places) {
                   for (int64_t channel = 0; channel < channels; ++channel) {
                     const C* plane = x + channel * windows.plane();
                     C* to = columns + (channel * windows.taps() + tap) * count + block;
                     for (int64_t p = 0; p < size; ++p) to[p] = places[p] >= 0 ? plane[places[p]] : C{};
                   }
                 });
      for (int64_t group = 0; group < c.groups; ++group) {
        int64_t out = group * c.outputs;
        product<C>(context.threads(), c.outputs, count, depth, w + out * depth, depth, false,
                   columns + group * depth * count, count,
                   y + (image * c.groups * c.outputs + out) * windows.positions() + first, windows.positions());
      }
    }
  }
}

/** The windows lie over the result; each position is an element of the input. */
template <class C>
void convolve_transposed(KernelContext& context, const WindowsNd& windows, const Channels& c, const C* x, const C* w,
                         C* y) {
  int64_t rows = c.outputs * windows.taps(), tile = tile_of<C>(windows, rows);
  C* columns = context.scratch<C>(checked_mul(rows, tile)).data();
  std::fill_n(y, c.batch * c.groups * c.outputs * windows.plane(), C{});
  for (int64_t part = 0; part < c.batch * c.groups; ++part) {
    const C* weights = w + part % c.groups * c.inputs * rows;
    for (int64_t first = 0; first < windows.positions(); first += tile) {
      base::check_terminate();
      int64_t count = std::min(tile, windows.positions() - first);
      product<C>(context.threads(), rows, count, c.inputs, weights, rows, true,
                 x + part * c.inputs * windows.positions() + first, windows.positions(), columns, count);
      const int64_t least = kernels::least_rows(windows.taps() * count, kernels::kScalarNs);
      context.threads().parallel_for(c.outputs, least, [&](int64_t begin, int64_t end) {
        std::vector<int64_t> places(static_cast<size_t>(count));
        for (int64_t tap = 0; tap < windows.taps(); ++tap) {
          windows.elements(tap, first, count, places.data());
          for (int64_t out = begin; out < end; ++out) {
            const C* from = columns + (out * windows.taps() + tap) * count;
            C* plane = y + (part * c.outputs + out) * windows.plane();
            for (int64_t p = 0; p < count; ++p) {
              if (places[static_cast<size_t>(p)] >= 0) plane[places[static_cast<size_t>(p)]] += from[p];
            }
          }
        }
      });
    }
  }
}

/** What follows the sums, inputs by their numbers. */
struct After {
  size_t bias, residual;
  kernels::Activation activation;
};

/** y = activation(y + bias + residual). */
template <class C>
void finish(KernelContext& context, const Shape& shape, const After& after, C* y) {
  int64_t plane = shape.count_from(2), channels = shape[1];
  const C* bias = read_input<C>(context, after.bias);
  const C* residual = read_input<C>(context, after.residual);
  const int64_t least = kernels::least_rows(plane, kernels::kElementNs);
  context.threads().parallel_for(shape[0] * channels, least, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      C* row = y + i * plane;
      for (int64_t p = 0; bias && p < plane; ++p) row[p] += bias[i % channels];
      for (int64_t p = 0; residual && p < plane; ++p) row[p] += residual[i * plane + p];
      if constexpr (std::is_same_v<C, float>) {
        if (after.activation.op != kernels::UnaryOp::kIdentity) kernels::unary(after.activation, row, row, plane);
      }
    }
  });
}

void check_operands(const KernelContext& context, const Shape& y, const After& after) {
  const Tensor *bias = context.input_if(after.bias), *residual = context.input_if(after.residual);
  require(!bias || bias->element_count() == y[1], ErrorCode::kInvalidArgument, "the bias has shape ",
          bias ? bias->shape() : Shape(), "; it needs one value for each of the ", y[1], " output channels");
  require(!residual || residual->shape() == y, ErrorCode::kInvalidArgument, "Z has shape ",
          residual ? residual->shape() : Shape(), ", the result ", y, "; they must be equal");
  require(after.activation.op == kernels::UnaryOp::kIdentity || context.input(0).type() != ElementType::kDouble,
          ErrorCode::kNotImplemented, "a fused activation needs float tensors");
}

std::vector<int64_t> spatial(const Shape& shape) { return {shape.begin() + 2, shape.end()}; }

/** Runs `body(x, w, y)` in the compute type, then what follows the sums. */
template <class Body>
void run(KernelContext& context, const After& after, Body&& body) {
  dispatch<kFloat32And64>(float_compute_type(context.input(0).type()), [&]<class C>(TypeTag<C>) {
    OutputAs<C> y(context, 0);
    check_operands(context, y.shape(), after);
    if (y.shape().element_count() == 0) return;
    body(read_input<C>(context, 0), read_input<C>(context, 1), y.data());
    finish<C>(context, y.shape(), after, y.data());
    y.finish();
  });
}

/** Calls body(first, size, places[tap][kBlock]) for blocks of windows, in parallel. */
template <class Body>
void for_windows(ThreadPool& pool, const WindowsNd& windows, Body&& body) {
  int64_t blocks = (windows.positions() + kBlock - 1) / kBlock;
  const int64_t least = kernels::least_rows(windows.taps() * kBlock, kernels::kScalarNs);
  pool.parallel_for(blocks, least, [&](int64_t begin, int64_t end) {
    std::vector<int64_t> places(static_cast<size_t>(checked_mul(windows.taps(), kBlock)));
    for (int64_t block = begin; block < end; ++block) {
      int64_t first = block * kBlock, size = std::min(kBlock, windows.positions() - first);
      for (int64_t tap = 0; tap < windows.taps(); ++tap) {
        windows.elements(tap, first, size, places.data() + tap * kBlock);
      }
      body(first, size, places.data());
    }
  });
}

}  // namespace

WindowsNd::WindowsNd(std::vector<int64_t> grid, std::vector<int64_t> area, ops::WindowAttributes window,
                     std::vector<int64_t> pads)
    : grid_(std::move(grid)),
      area_(std::move(area)),
      pads_(std::move(pads)),
      window_(std::move(window)),
      positions_(checked_size(grid_)),
      taps_(checked_size(window_.kernel)),
      plane_(checked_size(area_)) {}

void WindowsNd::elements(int64_t tap, int64_t first, int64_t count, int64_t* to) const {
  size_t rank = grid_.size();
  Dims taps(rank), at(rank);
  for (size_t i = rank; i-- > 0; tap /= window_.kernel[i]) taps[i] = tap % window_.kernel[i];
  for (size_t i = rank; i-- > 0; first /= grid_[i]) at[i] = first % grid_[i];
  for (int64_t p = 0; p < count; ++p) {
    int64_t element = 0, outside = 0;
    for (size_t i = 0; i < rank; ++i) {
      int64_t place = at[i] * window_.strides[i] - pads_[i] + taps[i] * window_.dilations[i];
      if (place < 0 || place >= area_[i]) outside = std::min(outside, kPadding);
      if (place >= area_[i] + pads_[rank + i]) outside = kBeyond;
      element = element * area_[i] + place;
    }
    to[p] = outside < 0 ? outside : element;
    for (size_t i = rank; i-- > 0;) {
      if (++at[i] < grid_[i]) break;
      at[i] = 0;
    }
  }
}

int64_t WindowsNd::column_major(int64_t element) const {
  Dims at(area_.size());
  for (size_t i = area_.size(); i-- > 0; element /= area_[i]) at[i] = element % area_[i];
  int64_t number = 0;
  for (size_t i = area_.size(); i-- > 0;) number = number * area_[i] + at[i];
  return number;
}

void conv_nd(KernelContext& context, int64_t groups, const kernels::Activation& activation) {
  const Shape &x = context.input(0).shape(), &w = context.input(1).shape(), &y = context.output(0).shape();
  require(x.rank() == w.rank() && groups > 0 && w[0] % groups == 0 && checked_mul(w[1], groups) == x[1],
          ErrorCode::kInvalidArgument, "input ", x, " does not fit weights ", w, " with group ", groups);
  ops::WindowAttributes window = ops::window_attributes(context.node(), x.rank() - 2, spatial(w));
  std::vector<int64_t> pads = window.pads_for(spatial(x));
  WindowsNd windows(spatial(y), spatial(x), std::move(window), std::move(pads));
  Channels channels{x[0], groups, w[1], w[0] / groups};
  run(context, {2, 3, activation}, [&]<class C>(const C* from, const C* weights, C* to) {
    convolve(context, windows, channels, from, weights, to);
  });
}

void conv_transpose_nd(KernelContext& context, const ops::ConvTransposeAttributes& attributes, size_t bias,
                       const kernels::Activation& activation) {
  const Shape &x = context.input(0).shape(), &w = context.input(1).shape(), &y = context.output(0).shape();
  require(x.rank() == w.rank() && x[1] == w[0] && w[0] % attributes.group == 0, ErrorCode::kInvalidArgument, "input ",
          x, " does not fit weights ", w, " with group ", attributes.group);
  std::vector<int64_t> pads(2 * (x.rank() - 2));
  for (size_t i = 2; i < x.rank(); ++i) pads[i - 2] = attributes.extent(i - 2, x[i]).pad_begin;
  WindowsNd windows(spatial(x), spatial(y), attributes.window, std::move(pads));
  Channels channels{x[0], attributes.group, w[0] / attributes.group, w[1]};
  run(context, {bias, SIZE_MAX, activation}, [&]<class C>(const C* from, const C* weights, C* to) {
    convolve_transposed(context, windows, channels, from, weights, to);
  });
}

template <class T>
void max_pool_nd(ThreadPool& pool, const WindowsNd& windows, int64_t planes, const T* x, T* y, int64_t* indices,
                 bool column_major) {
  for_windows(pool, windows, [&](int64_t first, int64_t size, const int64_t* places) {
    for (int64_t plane = 0; plane < planes; ++plane) {
      const T* from = x + plane * windows.plane();
      for (int64_t p = 0; p < size; ++p) {
        int64_t best = -1;
        for (int64_t tap = 0; tap < windows.taps(); ++tap) {
          int64_t place = places[tap * kBlock + p];
          if (place >= 0 && (best < 0 || from[place] > from[best])) best = place;
        }
        int64_t to = plane * windows.positions() + first + p;
        y[to] = best < 0 ? std::numeric_limits<T>::lowest() : from[best];
        if (!indices) continue;
        int64_t number = best >= 0 && column_major ? windows.column_major(best) : best;
        indices[to] = plane * windows.plane() + std::max<int64_t>(number, 0);
      }
    }
  });
}

template <class T>
void average_pool_nd(ThreadPool& pool, const WindowsNd& windows, int64_t planes, bool count_pad, const T* x, T* y) {
  for_windows(pool, windows, [&](int64_t first, int64_t size, const int64_t* places) {
    for (int64_t plane = 0; plane < planes; ++plane) {
      const T* from = x + plane * windows.plane();
      for (int64_t p = 0; p < size; ++p) {
        T sum{};
        int64_t count = 0;
        for (int64_t tap = 0; tap < windows.taps(); ++tap) {
          int64_t place = places[tap * kBlock + p];
          if (place >= 0) sum += from[place];
          count += place >= 0 || (count_pad && place == WindowsNd::kPadding);
        }
        y[plane * windows.positions() + first + p] = count ? sum / static_cast<T>(count) : T{};
      }
    }
  });
}

template <class T>
void lp_pool_nd(ThreadPool& pool, const WindowsNd& windows, int64_t planes, double exponent, const T* x, T* y) {
  for_windows(pool, windows, [&](int64_t first, int64_t size, const int64_t* places) {
    for (int64_t plane = 0; plane < planes; ++plane) {
      const T* from = x + plane * windows.plane();
      for (int64_t p = 0; p < size; ++p) {
        double sum = 0;
        for (int64_t tap = 0; tap < windows.taps(); ++tap) {
          int64_t place = places[tap * kBlock + p];
          if (place >= 0) sum += std::pow(std::abs(static_cast<double>(from[place])), exponent);
        }
        y[plane * windows.positions() + first + p] = static_cast<T>(std::pow(sum, 1 / exponent));
      }
    }
  });
}

template void max_pool_nd(ThreadPool&, const WindowsNd&, int64_t, const float*, float*, int64_t*, bool);
template void max_pool_nd(ThreadPool&, const WindowsNd&, int64_t, const double*, double*, int64_t*, bool);
template void max_pool_nd(ThreadPool&, const WindowsNd&, int64_t, const int8_t*, int8_t*, int64_t*, bool);
template void max_pool_nd(ThreadPool&, const WindowsNd&, int64_t, const uint8_t*, uint8_t*, int64_t*, bool);
template void average_pool_nd(ThreadPool&, const WindowsNd&, int64_t, bool, const float*, float*);
template void average_pool_nd(ThreadPool&, const WindowsNd&, int64_t, bool, const double*, double*);
template void lp_pool_nd(ThreadPool&, const WindowsNd&, int64_t, double, const float*, float*);
template void lp_pool_nd(ThreadPool&, const WindowsNd&, int64_t, double, const double*, double*);

}  // namespace ortolan::cpu
