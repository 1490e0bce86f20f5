// MaxPool, AveragePool and LpPool over windows; 16-bit floats compute in float.
#include "cpu/kernels/pooling.h"
#include "cpu/float_tensors.h"
#include "ops/shape_rules.h"
#include "runtime/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

constexpr size_t kMaxSpatial = 3;

/** What the three pools share: window attributes and the geometry of a run. */
class WindowPool : public OpKernel {
 protected:
  explicit WindowPool(const KernelInfo& info) {
    const std::vector<int64_t>& kernel = info.node().ints("kernel_shape");
    require(kernel.size() >= 1 && kernel.size() <= kMaxSpatial, ErrorCode::kNotImplemented, "kernel_shape has ",
            kernel.size(), " values; this operator takes 1 to 3");
    window_ = ops::window_attributes(info.node(), kernel.size(), kernel);
  }
  kernels::PoolGeometry geometry(const Shape& x, const Shape& y) const {
    size_t spatial = window_.kernel.size(), first = kMaxSpatial - spatial;
    require(x.rank() == spatial + 2, ErrorCode::kInvalidArgument, "input ", x, " has not ", spatial,
            " spatial dimensions");
    std::vector<int64_t> pads = window_.pads_for(std::span<const int64_t>(x.data() + 2, spatial));
    kernels::PoolGeometry g;
    g.planes = x.count_to(2);
    for (size_t i = 0; i < spatial; ++i) {
      g.in[first + i] = x[i + 2];
      g.out[first + i] = y[i + 2];
      g.kernel[first + i] = window_.kernel[i];
      g.stride[first + i] = window_.strides[i];
      g.dilation[first + i] = window_.dilations[i];
      g.pad_begin[first + i] = pads[i];
      g.pad_end[first + i] = pads[i + spatial];
    }
    return g;
  }

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
      default:
        return run<float>(context);
    }
  }

 private:
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
    kernels::PoolGeometry g = geometry(context.input(0).shape(), y.shape());
    const T* x = input_of<T>(context);
    if constexpr (std::is_floating_point_v<T>) {
      OutputAs<T> out(context, y);
      kernels::max_pool<T>(&context.threads(), g, x, out.data(), indices, column_major_);
      out.finish();
    } else {
      kernels::max_pool<T>(&context.threads(), g, x, y.mutable_data<T>(), indices, column_major_);
    }
  }

  bool column_major_;
};

/** Runs `body(geometry, x, y)` in the compute type. */
template <class Geometry, class Body>
void run_floats(KernelContext& context, Geometry&& geometry, Body&& body) {
  ElementType type = compute_type(context.input(0).type());
  dispatch<kFloat32And64>(type, [&]<class C>(TypeTag<C>) {
    OutputAs<C> y(context, 0);
    if (y.shape().element_count() == 0) return;
    body(geometry(context.input(0).shape(), y.shape()), read_input<C>(context, 0), y.data());
    y.finish();
  });
}

class AveragePool final : public WindowPool {
 public:
  explicit AveragePool(const KernelInfo& info)
      : WindowPool(info), count_pad_(info.node().int_or("count_include_pad", 0) != 0) {}
  void compute(KernelContext& context) const override {
    run_floats(
        context, [&](const Shape& x, const Shape& y) { return geometry(x, y); },
        [&]<class C>(const kernels::PoolGeometry& g, const C* x, C* y) {
          kernels::average_pool<C>(&context.threads(), g, count_pad_, x, y);
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
    run_floats(
        context, [&](const Shape& x, const Shape& y) { return geometry(x, y); },
        [&]<class C>(const kernels::PoolGeometry& g, const C* x, C* y) {
          kernels::lp_pool<C>(&context.threads(), g, p_, x, y);
        });
  }

 private:
  double p_;
};

constexpr TypeSet kMaxPoolTypes = kFloatTypes | ElementType::kInt8 | ElementType::kUInt8;

constexpr KernelRow kRows[] = {
    {"", "MaxPool", 1, kLatest, make_kernel<MaxPool>, {{0, kMaxPoolTypes}}},
    {"", "AveragePool", 1, kLatest, make_kernel<AveragePool>, {{0, kFloatTypes}}},
    {"", "LpPool", 1, kLatest, make_kernel<LpPool>, {{0, kFloatTypes}}},
};

}  // namespace

extern const KernelTable pooling_rows;
const KernelTable pooling_rows(kRows);
}  // namespace ortolan::cpu::onnx
