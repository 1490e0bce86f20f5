// Clip of floats by the vector function, of other types by plain loops. Where min exceeds max, all become max.
#include <algorithm>
#include <limits>

#include "base/threads/thread_pool.h"
#include "cpu/elements/small_floats.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/vector_f32.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

template <class T>
constexpr T kLowest = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                           : std::numeric_limits<T>::lowest();
template <class T>
constexpr T kHighest = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                            : std::numeric_limits<T>::max();

/** The limit in input `i`, or `fallback` when it is left out. T is float for float16 and bfloat16. */
template <class T>
T limit(const KernelContext& context, size_t i, T fallback) {
  const Tensor* tensor = context.input_if(i);
  if (!tensor) return fallback;
  require(tensor->element_count() == 1 && tensor->type() == context.input(0).type(), ErrorCode::kInvalidArgument,
          i == 1 ? "min" : "max", " is a tensor of ", name_of(tensor->type()), tensor->shape(), "; give a scalar of ",
          name_of(context.input(0).type()));
  if (!kHalfTypes.contains(tensor->type())) return *static_cast<const T*>(tensor->raw());
  float value;
  widen(tensor->type(), tensor->raw(), &value, 1);
  return static_cast<T>(value);
}

/** x and y are elements; NaN stays NaN. */
template <class T>
void clip(ElementType type, const void* x, void* y, int64_t count, T low, T high) {
  if constexpr (std::is_same_v<T, float>) {
    kernels::Activation activation{kernels::UnaryOp::kClip, low, high};
    if (type == ElementType::kFloat) {
      return kernels::unary(activation, static_cast<const float*>(x), static_cast<float*>(y), count);
    }
    float block[kConversionBlock];
    for (int64_t i = 0; i < count; i += kConversionBlock) {
      int64_t n = std::min(kConversionBlock, count - i);
      widen(type, static_cast<const uint16_t*>(x) + i, block, n);
      kernels::unary(activation, block, block, n);
      narrow(type, block, static_cast<uint16_t*>(y) + i, n);
    }
  } else {
    auto* from = static_cast<const T*>(x);
    auto* to = static_cast<T*>(y);
    for (int64_t i = 0; i < count; ++i) {
      T raised = from[i] < low ? low : from[i];
      to[i] = high < raised ? high : raised;
    }
  }
}

class Clip : public OpKernel {
 public:
  explicit Clip(const KernelInfo& info) {
    if (info.opset() >= 11) return;
    from_attributes_ = true;
    min_ = info.node().float_or("min", kLowest<float>);
    max_ = info.node().float_or("max", kHighest<float>);
  }

  void compute(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    Tensor& y = context.output(0);
    dispatch<kIntegerTypes | kFloat32And64>(compute_type(x.type()), [&]<class T>(TypeTag<T>) {
      T low = from_attributes_ ? attribute<T>(min_) : limit<T>(context, 1, kLowest<T>);
      T high = from_attributes_ ? attribute<T>(max_) : limit<T>(context, 2, kHighest<T>);
      size_t size = bits_of(x.type()) / 8;
      const int64_t least = kernels::least_items(kernels::kElementNs);
      context.threads().parallel_for(x.element_count(), least, [&](int64_t begin, int64_t end) {
        clip<T>(x.type(), static_cast<const char*>(x.raw()) + begin * size,
                static_cast<char*>(y.mutable_raw()) + begin * size, end - begin, low, high);
      });
    });
  }

 private:
  /** Attributes limit floating-point elements only. */
  template <class T>
  static T attribute(float value) {
    if constexpr (std::is_floating_point_v<T>) return value;
    return T{};
  }

  bool from_attributes_ = false;
  float min_ = 0, max_ = 0;
};

constexpr KernelRow kRows[] = {
    {"", "Clip", 1, 10, make_kernel<Clip>, {{0, kFloatTypes}}, Reuse::kInPlace},
    {"", "Clip", 11, kLatest, make_kernel<Clip>, {{0, kNumericTypes}}, Reuse::kInPlace},
};

}  // namespace

extern const KernelTable clip_rows;
constinit const KernelTable clip_rows(kRows);

}  // namespace ortolan::cpu::onnx
