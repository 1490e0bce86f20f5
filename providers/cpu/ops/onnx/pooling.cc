// MaxPool, AveragePool, LpPool and MaxpoolWithMask over windows; 16-bit floats compute in float, or are ordered as they
// are.
#include <limits>

#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"
#include "cpu/convolution/pool_geometry.h"
#include "cpu/convolution/windows_nd.h"
#include "cpu/elements/float_tensors.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

/** What the three pools share: window attributes and the geometry of a run. */
class WindowPool : public OpKernel {
 protected:
  explicit WindowPool(const KernelInfo& info, bool any_rank = true) : window_(pool_window(info.node(), any_rank)) {}
  kernels::PoolGeometry geometry(const Shape& x, const Shape& y) const { return pool_geometry(window_, x, y); }
  /** True where the window has more dimensions than the kernels take: then run `windows` instead. */
  bool many_dimensions() const { return window_.kernel.size() > kMostKernelSpatial; }
  WindowsNd windows(const Shape& x, const Shape& y) const {
    size_t spatial = window_.kernel.size();
    require(x.rank() == spatial + 2, ErrorCode::kInvalidArgument, "input ", x, " has not ", spatial,
            " spatial dimensions");
    std::vector<int64_t> area(x.begin() + 2, x.end()), grid(y.begin() + 2, y.end());
    std::vector<int64_t> pads = window_.pads_for(area);
    return WindowsNd(std::move(grid), std::move(area), window_, std::move(pads));
  }

  size_t spatial() const { return window_.kernel.size(); }

 private:
  ops::WindowAttributes window_;
};

class MaxPool final : public WindowPool {
 public:
  explicit MaxPool(const KernelInfo& info) : WindowPool(info) {
    int64_t order = info.node().int_or("storage_order", 0);
    require(order == 0 || order == 1, ErrorCode::kInvalidGraph, "storage_order is ", order, "; use 0 or 1");
    column_major_ = order == 1;
  }

  void compute(KernelContext& context) const override {
    switch (context.input(0).type()) {
      case ElementType::kInt8:
        return run<int8_t>(context);
      case ElementType::kUInt8:
        return run<uint8_t>(context);
      case ElementType::kDouble:
        return run<double>(context);
      case ElementType::kFloat16:
      case ElementType::kBFloat16:
        if (!context.has_output(1) && !many_dimensions()) return run_halves(context);
        [[fallthrough]];
      default:
        return run<float>(context);
    }
  }

 private:
  void run_halves(KernelContext& context) const {
    const Tensor& x = context.input(0);
    Tensor& y = context.output(0);
    if (y.element_count() == 0) return;
    const uint16_t infinity = x.type() == ElementType::kFloat16 ? 0x7C00 : 0x7F80;
    kernels::max_pool_halves(&context.threads(), geometry(x.shape(), y.shape()), infinity,
                             static_cast<const uint16_t*>(x.raw()), static_cast<uint16_t*>(y.mutable_raw()));
  }

  template <class T>
  static const T* input_of(KernelContext& context) {
    if constexpr (std::is_floating_point_v<T>) return read_input<T>(context, 0);
    return static_cast<const T*>(context.input(0).raw());
  }
  template <class T>
  void run(KernelContext& context) const {
    Tensor& y = context.output(0);
    int64_t* indices = context.has_output(1) ? context.output(1).mutable_data<int64_t>() : nullptr;
    if (y.element_count() == 0) return;
    const T* x = input_of<T>(context);
    if (many_dimensions()) return run_nd<T>(context, y, x, indices);
    kernels::PoolGeometry g = geometry(context.input(0).shape(), y.shape());
    if constexpr (std::is_floating_point_v<T>) {
      OutputAs<T> out(context, y);
      kernels::max_pool<T>(&context.threads(), g, x, out.data(), indices, column_major_);
      out.finish();
    } else {
      kernels::max_pool<T>(&context.threads(), g, x, y.mutable_data<T>(), indices, column_major_);
    }
  }

  template <class T>
  void run_nd(KernelContext& context, Tensor& y, const T* x, int64_t* indices) const {
    const Shape& shape = context.input(0).shape();
    WindowsNd places = windows(shape, y.shape());
    if constexpr (std::is_floating_point_v<T>) {
      OutputAs<T> out(context, y);
      max_pool_nd<T>(context.threads(), places, shape.count_to(2), x, out.data(), indices, column_major_);
      out.finish();
    } else {
      max_pool_nd<T>(context.threads(), places, shape.count_to(2), x, y.mutable_data<T>(), indices, column_major_);
    }
  }

  bool column_major_;
};

/** Runs `body(x's shape, y's shape, x, y)` in the compute type. */
template <class Body>
void run_floats(KernelContext& context, Body&& body) {
  ElementType type = float_compute_type(context.input(0).type());
  dispatch<kFloat32And64>(type, [&]<class C>(TypeTag<C>) {
    OutputAs<C> y(context, 0);
    if (y.shape().element_count() == 0) return;
    body(context.input(0).shape(), y.shape(), read_input<C>(context, 0), y.data());
    y.finish();
  });
}

class AveragePool final : public WindowPool {
 public:
  explicit AveragePool(const KernelInfo& info)
      : WindowPool(info), count_pad_(info.node().int_or("count_include_pad", 0) != 0) {}
  void compute(KernelContext& context) const override {
    run_floats(context, [&]<class C>(const Shape& from, const Shape& to, const C* x, C* y) {
      if (many_dimensions()) {
        return average_pool_nd<C>(context.threads(), windows(from, to), from.count_to(2), count_pad_, x, y);
      }
      kernels::average_pool<C>(&context.threads(), geometry(from, to), count_pad_, x, y);
    });
  }

 private:
  bool count_pad_;
};

class LpPool final : public WindowPool {
 public:
  explicit LpPool(const KernelInfo& info) : WindowPool(info) {
    p_ = info.opset() < 2 ? info.node().float_or("p", 2) : static_cast<double>(info.node().int_or("p", 2));
    require(p_ > 0, ErrorCode::kInvalidGraph, "p is ", p_, "; it must be positive");
  }
  void compute(KernelContext& context) const override {
    run_floats(context, [&]<class C>(const Shape& from, const Shape& to, const C* x, C* y) {
      if (many_dimensions()) {
        return lp_pool_nd<C>(context.threads(), windows(from, to), from.count_to(2), p_, x, y);
      }
      kernels::lp_pool<C>(&context.threads(), geometry(from, to), p_, x, y);
    });
  }

 private:
  double p_;
};

/** A window's rows end at their first element whose mask is 0; what is left gives the maximum, or the lowest number
    where nothing is. The first element of a plane of two or three dimensions counts whatever its mask says. Planes
    beyond the mask's begin with its first again. */
class MaxpoolWithMask final : public WindowPool {
 public:
  explicit MaxpoolWithMask(const KernelInfo& info) : WindowPool(info, false) {}

  void compute(KernelContext& context) const override {
    const Shape &shape = context.input(0).shape(), &mask_shape = context.input(1).shape();
    bool fits = mask_shape.rank() == shape.rank() && std::equal(shape.begin() + 2, shape.end(), mask_shape.begin() + 2);
    require(fits && (mask_shape.count_to(2) > 0 || shape.count_to(2) == 0), ErrorCode::kInvalidArgument,
            "the mask has shape ", mask_shape, "; it needs planes as those of the input ", shape);
    const int32_t* mask = context.input(1).data<int32_t>();
    int64_t mask_planes = mask_shape.count_to(2);
    run_floats(context, [&]<class C>(const Shape& from, const Shape& to, const C* x, C* y) {
      kernels::PoolGeometry g = geometry(from, to);
      int64_t in = shape.count_from(2), out = g.out[0] * g.out[1] * g.out[2];
      const int64_t least = kernels::least_rows(out, kernels::kScalarNs);
      context.threads().parallel_for(g.planes, least, [&](int64_t begin, int64_t end) {
        for (int64_t p = begin; p < end; ++p) plane(g, x + p * in, mask + p % mask_planes * in, y + p * out);
      });
    });
  }

 private:
  /** The part [first, end) of a window that lies inside the plane. */
  static std::pair<int64_t, int64_t> reach(const kernels::PoolGeometry& g, int axis, int64_t out) {
    int64_t start = out * g.stride[axis] - g.pad_begin[axis];
    return {std::max<int64_t>(start, 0), std::min(start + g.kernel[axis], g.in[axis])};
  }

  template <class C>
  void plane(const kernels::PoolGeometry& g, const C* x, const int32_t* mask, C* y) const {
    base::TerminatePoll poll;
    const int64_t work = 8 + g.kernel[0] * g.kernel[1] * g.kernel[2];
    for (int64_t d = 0; d < g.out[0]; ++d) {
      for (int64_t h = 0; h < g.out[1]; ++h) {
        poll.work(g.out[2] * work);
        for (int64_t w = 0; w < g.out[2]; ++w)
          *y++ = window(g, x, mask, reach(g, 0, d), reach(g, 1, h), reach(g, 2, w));
      }
    }
  }

  template <class C>
  C window(const kernels::PoolGeometry& g, const C* x, const int32_t* mask, std::pair<int64_t, int64_t> depth,
           std::pair<int64_t, int64_t> height, std::pair<int64_t, int64_t> width) const {
    C most = std::numeric_limits<C>::lowest();
    bool first_counts = spatial() > 1;
    for (int64_t d = depth.first; d < depth.second; ++d) {
      for (int64_t h = height.first; h < height.second; ++h) {
        int64_t row = (d * g.in[1] + h) * g.in[2];
        for (int64_t i = row + width.first; i < row + width.second; ++i) {
          if (mask[i] == 0 && (i > 0 || !first_counts)) break;
          if (x[i] > most) most = x[i];
        }
      }
    }
    return most;
  }
};

constexpr TypeSet kMaxPoolTypes = kFloatTypes | ElementType::kInt8 | ElementType::kUInt8;

constexpr KernelRow kRows[] = {
    {"", "MaxPool", 1, kLatest, make_kernel<MaxPool>, {{0, kMaxPoolTypes}}},
    {"", "AveragePool", 1, kLatest, make_kernel<AveragePool>, {{0, kFloatTypes}}},
    {"", "LpPool", 1, kLatest, make_kernel<LpPool>, {{0, kFloatTypes}}},
    {"com.microsoft", "MaxpoolWithMask", 1, kLatest, make_kernel<MaxpoolWithMask>, {{0, kFloatTypes}}},
};

}  // namespace

extern const KernelTable pooling_rows;
const KernelTable pooling_rows(kRows);
}  // namespace ortolan::cpu::onnx
