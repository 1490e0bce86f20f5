// DeformConv: each tap of the kernel samples the input at a place of its own, between pixels; the sampled columns then
// go through one product with the weights for each group.
#include <algorithm>
#include <cmath>

#include "base/threads/run_scope.h"
#include "base/threads/thread_pool.h"
#include "cpu/elements/float_tensors.h"
#include "cpu/kernels/convolution/plane_mixes.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/products/gemm_f32.h"
#include "ops/shape_rules.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

constexpr size_t kMostSpatial = 8;         // corners double with each dimension
constexpr int64_t kBlock = 64;             // positions whose corners are found at a time
constexpr int64_t kColumnBytes = 8 << 20;  // of sampled columns at a time

struct Geometry {
  ops::WindowAttributes window;
  std::vector<int64_t> pads, in, out;
  int64_t batch, channels, out_channels, groups, offset_groups, taps, positions, plane;
};

/** Flat number to coordinates of these sizes. */
void unravel(int64_t number, std::span<const int64_t> sizes, int64_t* at) {
  for (size_t i = sizes.size(); i-- > 0; number /= sizes[i]) at[i] = number % sizes[i];
}

/** Where up to kBlock samples lie: for each corner, an element of the plane and its weight, 0 for what is outside. */
template <class C>
class Corners {
 public:
  explicit Corners(const Geometry& g) : g_(g), count_(size_t{1} << g.in.size()) {
    places_.resize(count_ * kBlock);
    weights_.resize(count_ * kBlock);
  }

  /** Finds the corners of tap `tap` at the positions [first, first + count). `offsets` are the tap's in the first
      dimension, those of the next dimension g.positions further on; `mask` may be NULL. */
  void find(int64_t tap, int64_t first, int64_t count, const C* offsets, const C* mask) {
    size_t spatial = g_.in.size();
    int64_t taps[kMostSpatial], at[kMostSpatial];
    unravel(tap, g_.window.kernel, taps);
    for (int64_t p = 0; p < count; ++p) {
      unravel(first + p, g_.out, at);
      C place[kMostSpatial];
      bool inside = true;
      for (size_t d = 0; d < spatial; ++d) {
        int64_t start = at[d] * g_.window.strides[d] - g_.pads[d] + taps[d] * g_.window.dilations[d];
        place[d] = static_cast<C>(start) + offsets[static_cast<int64_t>(d) * g_.positions + first + p];
        inside = inside && place[d] > C{-1} && place[d] < static_cast<C>(g_.in[d]);
      }
      set_corners(p, inside ? place : nullptr, mask ? mask[first + p] : C{1});
    }
  }

  /** The samples of one plane. */
  void sample(const C* plane, int64_t count, C* to) const {
    std::fill_n(to, count, C{});
    for (size_t corner = 0; corner < count_; ++corner) {
      const int64_t* places = places_.data() + corner * kBlock;
      const C* weights = weights_.data() + corner * kBlock;
      for (int64_t p = 0; p < count; ++p) to[p] += weights[p] != 0 ? weights[p] * plane[places[p]] : C{};
    }
  }

 private:
  void set_corners(int64_t p, const C* place, C mask) {
    for (size_t corner = 0; corner < count_; ++corner) {
      C weight = place ? mask : C{};
      int64_t offset = 0;
      for (size_t d = 0; place && d < g_.in.size(); ++d) {
        C low = std::floor(place[d]), part = place[d] - low;
        bool high = (corner >> d) & 1;
        int64_t index = static_cast<int64_t>(low) + high;
        weight *= index >= 0 && index < g_.in[d] ? (high ? part : 1 - part) : C{};
        offset = offset * g_.in[d] + index;
      }
      places_[corner * kBlock + static_cast<size_t>(p)] = weight != 0 ? offset : 0;
      weights_[corner * kBlock + static_cast<size_t>(p)] = weight;
    }
  }

  const Geometry& g_;
  size_t count_;
  std::vector<int64_t> places_;
  std::vector<C> weights_;
};

/** The same in images of at least 2 x 2 pixels: four corners each. */
template <class C>
class ImageCorners {
 public:
  explicit ImageCorners(const Geometry& g) : g_(g) { mixes_.width = g.in[1]; }

  void find(int64_t tap, int64_t first, int64_t count, const C* offsets, const C* mask) {
    int64_t taps[2], at[2];
    unravel(tap, g_.window.kernel, taps);
    unravel(first, g_.out, at);
    mixes_.count = count;
    for (int64_t p = 0; p < count; ++p) {
      C place[2];
      for (int d = 0; d < 2; ++d) {
        int64_t start = at[d] * g_.window.strides[d] - g_.pads[d] + taps[d] * g_.window.dilations[d];
        place[d] = static_cast<C>(start) + offsets[d * g_.positions + first + p];
      }
      set(p, place, mask ? mask[first + p] : C{1});
      if (++at[1] == g_.out[1]) ++at[0], at[1] = 0;
    }
  }

  void sample(const C* plane, int64_t, C* to) const { kernels::mix_plane(mixes_, plane, to); }

 private:
  void set(int64_t p, const C (&place)[2], C mask) {
    kernels::Neighbours<C> around[2] = {};
    bool inside = true;
    for (int d = 0; d < 2; ++d) inside = inside && place[d] > C{-1} && place[d] < static_cast<C>(g_.in[d]);
    for (int d = 0; inside && d < 2; ++d) {
      auto low = static_cast<int64_t>(place[d]);
      low -= static_cast<C>(low) > place[d];
      C part = place[d] - static_cast<C>(low);
      around[d] = kernels::moved_inside<C>({low, {1 - part, part}}, g_.in[d]);
    }
    for (C& weight : around[0].weights) weight *= inside ? mask : C{};
    mixes_.set(p, around[0], around[1]);
  }

  const Geometry& g_;
  kernels::PlaneMixes<C> mixes_;
};

void product(ThreadPool& pool, int64_t m, int64_t n, int64_t k, const float* a, const float* b, const float* bias,
             float* c, int64_t ldc) {
  kernels::Epilogue epilogue;
  epilogue.bias = bias;
  if (bias) epilogue.bias_kind = kernels::BiasKind::kRow;
  kernels::gemm(&pool, m, n, k, a, k, false, b, n, false, c, ldc, epilogue);
}

void product(ThreadPool& pool, int64_t m, int64_t n, int64_t k, const double* a, const double* b, const double* bias,
             double* c, int64_t ldc) {
  kernels::gemm_f64(&pool, m, n, k, 1, a, k, false, b, n, false, 0, c, ldc);
  for (int64_t i = 0; bias && i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) c[i * ldc + j] += bias[i];
  }
}

class DeformConv final : public OpKernel {
 public:
  explicit DeformConv(const KernelInfo& info)
      : groups_(info.node().int_or("group", 1)), offset_groups_(info.node().int_or("offset_group", 1)) {}
  void compute(KernelContext& context) const override {
    context.input(0).type() == ElementType::kDouble ? run<double>(context) : run<float>(context);
  }

 private:
  template <class C>
  struct Operands {
    const C *x, *weights, *offset, *bias, *mask;
    C* y;
  };
  Geometry geometry(const KernelContext& context, const Shape& y) const;
  template <class C>
  void run(KernelContext& context) const;
  template <class Finder, class C>
  static void sample(ThreadPool& pool, const Geometry& g, const Operands<C>& o, int64_t image, int64_t first,
                     int64_t count, C* columns);

  int64_t groups_, offset_groups_;
};

Geometry DeformConv::geometry(const KernelContext& context, const Shape& y) const {
  const Shape &x = context.input(0).shape(), &w = context.input(1).shape();
  size_t spatial = x.rank() - 2;
  require(spatial <= kMostSpatial, ErrorCode::kNotImplemented, "input ", x, " has ", spatial,
          " spatial dimensions; this operator takes up to ", kMostSpatial);
  Geometry g{ops::window_attributes(context.node(), spatial, std::span(w.data() + 2, spatial))};
  g.in.assign(x.begin() + 2, x.end());
  g.out.assign(y.begin() + 2, y.end());
  g.pads = g.window.pads_for(g.in);
  g.batch = x[0], g.channels = x[1], g.out_channels = w[0];
  g.groups = groups_, g.offset_groups = offset_groups_;
  g.taps = w.count_from(2), g.positions = y.count_from(2), g.plane = x.count_from(2);
  const Tensor* bias = context.input_if(3);
  require(!bias || bias->shape() == Shape{w[0]}, ErrorCode::kInvalidArgument, "the bias has shape ",
          bias ? bias->shape() : Shape(), "; it needs ", Shape{w[0]});
  return g;
}

/** columns[channel * taps + tap][position] for `count` positions of one image. */
template <class Finder, class C>
void DeformConv::sample(ThreadPool& pool, const Geometry& g, const Operands<C>& o, int64_t image, int64_t first,
                        int64_t count, C* columns) {
  int64_t blocks = (count + kBlock - 1) / kBlock, channels = g.channels / g.offset_groups;
  auto dims = static_cast<int64_t>(g.in.size());
  const int64_t least = kernels::least_rows(kBlock * (channels + 1), kernels::kScalarNs);
  pool.parallel_for(g.offset_groups * g.taps * blocks, least, [&](int64_t begin, int64_t end) {
    Finder corners(g);
    for (int64_t i = begin; i < end; ++i) {
      int64_t row = i / blocks, block = i % blocks * kBlock, size = std::min(kBlock, count - block);
      int64_t group = row / g.taps, tap = row % g.taps;
      int64_t each = image * g.offset_groups * g.taps + row;
      corners.find(tap, first + block, size, o.offset + each * dims * g.positions,
                   o.mask ? o.mask + each * g.positions : nullptr);
      for (int64_t c = group * channels; c < (group + 1) * channels; ++c) {
        corners.sample(o.x + (image * g.channels + c) * g.plane, size, columns + (c * g.taps + tap) * count + block);
      }
    }
  });
}

template <class C>
void DeformConv::run(KernelContext& context) const {
  OutputAs<C> y(context, 0);
  Geometry g = geometry(context, y.shape());
  if (y.shape().element_count() == 0) return;
  Operands<C> o{read_input<C>(context, 0), read_input<C>(context, 1), read_input<C>(context, 2),
                read_input<C>(context, 3), read_input<C>(context, 4), y.data()};
  int64_t rows = checked_mul(g.channels, g.taps), depth = rows / g.groups, outputs = g.out_channels / g.groups;
  int64_t fitting = kColumnBytes / (std::max<int64_t>(rows, 1) * static_cast<int64_t>(sizeof(C)));
  int64_t most = std::min(g.positions, std::max<int64_t>(fitting / kBlock, 1) * kBlock);
  C* columns = context.scratch<C>(checked_mul(rows, most)).data();
  const bool image_like = g.in.size() == 2 && g.in[0] > 1 && g.in[1] > 1;
  const auto sample_some = image_like ? sample<ImageCorners<C>, C> : sample<Corners<C>, C>;
  for (int64_t image = 0; image < g.batch; ++image) {
    for (int64_t first = 0; first < g.positions; first += most) {
      base::check_terminate();
      int64_t count = std::min(most, g.positions - first);
      if (g.plane > 0) {
        sample_some(context.threads(), g, o, image, first, count, columns);
      } else {
        std::fill_n(columns, rows * count, C{});
      }
      for (int64_t group = 0; group < g.groups; ++group) {
        int64_t out = group * outputs;
        product(context.threads(), outputs, count, depth, o.weights + out * depth, columns + group * depth * count,
                o.bias ? o.bias + out : nullptr, o.y + (image * g.out_channels + out) * g.positions + first,
                g.positions);
      }
    }
  }
  y.finish();
}

constexpr KernelRow kRows[] = {{"", "DeformConv", 19, kLatest, make_kernel<DeformConv>}};

}  // namespace

extern const KernelTable deform_conv_rows;
constinit const KernelTable deform_conv_rows(kRows);

}  // namespace ortolan::cpu::onnx
