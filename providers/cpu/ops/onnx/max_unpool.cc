// MaxUnpool: puts values back where MaxPool found them; all else is zero. Moves elements by their size.
#include "base/threads/polled_loop.h"
#include "ops/shape_rules.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

class MaxUnpool final : public OpKernel {
 public:
  explicit MaxUnpool(const KernelInfo& info) {
    const std::vector<int64_t>& kernel = info.node().ints("kernel_shape");
    window_ = ops::window_attributes(info.node(), kernel.size(), kernel);
  }

  void compute(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    const Tensor& indices = context.input(1);
    require(x.shape() == indices.shape(), ErrorCode::kInvalidArgument, "X has shape ", x.shape(), " but I has ",
            indices.shape(), "; they must be equal");
    Tensor& y = context.output(0);
    base::polled_clear(y.mutable_raw(), static_cast<int64_t>(y.byte_count()));
    Shape pooled = unpooled(x.shape());
    dispatch<kFloatTypes>(x.type(), [&]<class T>(TypeTag<T>) {
      place(x.data<T>(), indices.data<int64_t>(), x.element_count(), pooled, y.shape(), y.mutable_data<T>());
    });
  }

 private:
  /** The shape that the pool must have had by its attributes: indices count in it. */
  Shape unpooled(Shape shape) const {
    size_t spatial = window_.kernel.size();
    require(shape.rank() == spatial + 2, ErrorCode::kInvalidArgument, "input ", shape, " has not ", spatial,
            " spatial dimensions");
    for (size_t i = 0; i < spatial; ++i) {
      int64_t size = checked_mul(std::max<int64_t>(shape[i + 2] - 1, 0), window_.strides[i]);
      size = checked_add(size, window_.kernel[i]);
      shape[i + 2] = std::max<int64_t>(size - window_.pads[i] - window_.pads[i + spatial], 0);
    }
    return shape;
  }

  template <class T>
  static void place(const T* x, const int64_t* indices, int64_t count, const Shape& from, const Shape& to, T* y) {
    int64_t limit = from.element_count();
    bool same = from == to;
    require(from.rank() == to.rank(), ErrorCode::kInvalidArgument, "output_shape ", to, " needs rank ", from.rank());
    base::TerminatePoll poll;
    for (int64_t i = 0; i < count; ++i) {
      poll.work(4);
      int64_t index = indices[i];
      require(index >= 0 && index < limit, ErrorCode::kInvalidArgument, "index ", index, " at element ", i,
              " is outside the unpooled shape ", from);
      y[same ? index : moved(index, from, to)] = x[i];
    }
  }

  /** The same coordinates in another shape. */
  static int64_t moved(int64_t index, const Shape& from, const Shape& to) {
    int64_t result = 0, stride = 1, rest = index;
    for (size_t d = from.rank(); d-- > 0;) {
      int64_t at = rest % from[d];
      require(at < to[d], ErrorCode::kInvalidArgument, "index ", index, " lies outside output_shape ", to);
      result += at * stride;
      stride *= to[d];
      rest /= from[d];
    }
    return result;
  }

  ops::WindowAttributes window_;
};

constexpr KernelRow kRows[] = {
    {"", "MaxUnpool", 9, kLatest, make_kernel<MaxUnpool>, {{0, kFloatTypes}}},
};

}  // namespace

extern const KernelTable max_unpool_rows;
const KernelTable max_unpool_rows(kRows);
}  // namespace ortolan::cpu::onnx
