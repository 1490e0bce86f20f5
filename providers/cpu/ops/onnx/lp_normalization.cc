// LpNormalization. A slice of zeros stays zero.
#include <algorithm>
#include <cmath>

#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"
#include "cpu/elements/small_floats.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/vector_f32.h"
#include "cpu/kernels/rows/reduce_f32.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

template <class T>
void normalize(const T* x, T* y, int64_t count, int64_t stride, bool absolute) {
  double sum = 0;
  base::polled_loop(count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      auto value = static_cast<double>(x[i * stride]);
      sum += absolute ? std::fabs(value) : value * value;
    }
  });
  double norm = absolute ? sum : std::sqrt(sum);
  base::polled_loop(count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      y[i * stride] = norm == 0 ? T{0} : static_cast<T>(static_cast<double>(x[i * stride]) / norm);
    }
  });
}

/** Of neighbouring elements, by vector functions. */
void normalize_row(const float* x, float* y, int64_t count, bool absolute) {
  float norm = kernels::reduce(absolute ? kernels::ReduceOp::kSumAbs : kernels::ReduceOp::kSumSquares, x, count);
  if (!absolute && !(norm > 1e-30f && norm < 1e30f))
    return normalize(x, y, count, 1, absolute);  // squares have no room
  if (!absolute) norm = std::sqrt(norm);
  if (norm == 0) {
    std::fill_n(y, count, 0.0f);
  } else {
    kernels::binary(kernels::BinaryOp::kDiv, x, norm, y, count);
  }
}

class LpNormalization : public OpKernel {
 public:
  explicit LpNormalization(const KernelInfo& info)
      : axis_(info.node().int_or("axis", -1)), absolute_(info.node().int_or("p", 2) == 1) {}

  void compute(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    Tensor& y = context.output(0);
    if (x.type() == ElementType::kDouble) return run(context, x.data<double>(), y.mutable_data<double>());
    if (x.type() == ElementType::kFloat) return run(context, x.data<float>(), y.mutable_data<float>());
    auto floats = context.scratch<float>(x.element_count());
    widen(x.type(), x.raw(), floats.data(), x.element_count());
    run(context, static_cast<const float*>(floats.data()), floats.data());
    narrow(x.type(), floats.data(), y.mutable_raw(), y.element_count());
  }

 private:
  template <class T>
  void run(KernelContext& context, const T* x, T* y) const {
    const Shape& shape = context.input(0).shape();
    size_t axis = checked_axis(axis_, shape.rank());
    if (shape.element_count() == 0) return;
    int64_t count = shape[axis], stride = shape.count_from(axis + 1);
    int64_t slices = shape.element_count() / count;
    const int64_t least = kernels::least_rows(count, kernels::kScalarNs);
    context.threads().parallel_for(slices, least, [&](int64_t begin, int64_t end) {
      for (int64_t s = begin; s < end; ++s) {
        int64_t first = s / stride * stride * count + s % stride;
        if constexpr (std::is_same_v<T, float>) {
          if (stride == 1) {
            normalize_row(x + first, y + first, count, absolute_);
            continue;
          }
        }
        normalize(x + first, y + first, count, stride, absolute_);
      }
    });
  }

  int64_t axis_;
  bool absolute_;
};

constexpr KernelRow kRows[] = {
    {"", "LpNormalization", 1, kLatest, make_kernel<LpNormalization>, {{0, kFloatTypes}}, Reuse::kInPlace}};

}  // namespace

extern const KernelTable lp_normalization_rows;
constinit const KernelTable lp_normalization_rows(kRows);

}  // namespace ortolan::cpu::onnx
