// Dropout.
#include <algorithm>

#include "base/threads/thread_pool.h"
#include "cpu/elements/element_conversion.h"
#include "cpu/elements/random_stream.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

constexpr TypeSet kTypes = kFloatTypes | kFloat8Types;

/** The one element of an optional input as double. */
double scalar_or(KernelContext& context, size_t i, double fallback) {
  const Tensor* tensor = context.input_if(i);
  if (!tensor) return fallback;
  require(tensor->element_count() == 1, ErrorCode::kInvalidArgument, "input ", i, " has ", tensor->element_count(),
          " elements; give a scalar");
  Tensor value(ElementType::kDouble, tensor->shape());
  convert_elements(*tensor, value, {}, context.threads());
  return *value.data<double>();
}

class Dropout : public OpKernel {
 public:
  explicit Dropout(const KernelInfo& info) : has_training_input_(info.opset() >= 12), random_(info.node()) {}

  void compute(KernelContext& context) const override {
    bool training = has_training_input_ && scalar_or(context, 2, 0) != 0;
    double ratio = training ? scalar_or(context, 1, 0.5) : 0;
    require(ratio >= 0 && ratio < 1, ErrorCode::kInvalidArgument, "ratio is ", ratio, "; it must be in [0, 1)");
    if (ratio != 0) return drop(context, ratio);
    copy_elements(context.input(0), context.output(0));
    if (!context.has_output(1)) return;
    Tensor& mask = context.output(1);
    Tensor ones(ElementType::kBool, mask.shape(), context.services().allocator);
    std::fill_n(ones.mutable_data<bool>(), ones.element_count(), true);
    convert_elements(ones, mask, {}, context.threads());
  }

 private:
  void drop(KernelContext& context, double ratio) const {
    const Tensor& x = context.input(0);
    RandomStream stream = random_.next();
    bool* mask = context.has_output(1) ? context.output(1).mutable_data<bool>() : nullptr;
    dispatch<kTypes>(x.type(), [&]<class T>(TypeTag<T>) {
      using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
      const T* from = x.data<T>();
      T* to = context.output(0).mutable_data<T>();
      auto scale = static_cast<Wide>(1 / (1 - ratio));
      const int64_t least = kernels::least_items(kernels::kHashNs);
      context.threads().parallel_for(x.element_count(), least, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          bool keep = stream.uniform(i) >= ratio;
          to[i] = keep ? T(static_cast<Wide>(from[i]) * scale) : T(Wide{0});
          if (mask) mask[i] = keep;
        }
      });
    });
  }

  bool has_training_input_;
  RandomSource random_;
};

constexpr KernelRow kRows[] = {
    {"", "Dropout", 1, kLatest, make_kernel<Dropout>, {{0, kTypes}}, Reuse::kInPlace},
};

}  // namespace

extern const KernelTable dropout_rows;
constinit const KernelTable dropout_rows(kRows);

}  // namespace ortolan::cpu::onnx
