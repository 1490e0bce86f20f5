// Softmax, LogSoftmax and Hardmax over slices of an [outer][axis][inner] tensor.
#include <algorithm>
#include <cmath>

#include "base/threads/thread_pool.h"
#include "cpu/elements/small_floats.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/math_f64.h"
#include "cpu/kernels/elementwise/number_loops.h"
#include "cpu/kernels/rows/normalization_f32.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

struct Extent {
  int64_t outer, axis, inner;
};

/** Calls `body(first, stride)` for every slice: its elements are first, first + stride, …. */
template <class Body>
void for_each_slice(ThreadPool& threads, const Extent& extent, Body&& body) {
  const int64_t least = kernels::least_rows(extent.axis, kernels::kScalarNs);
  threads.parallel_for(extent.outer * extent.inner, least, [&](int64_t begin, int64_t end) {
    for (int64_t slice = begin; slice < end; ++slice) {
      body(slice / extent.inner * extent.axis * extent.inner + slice % extent.inner, extent.inner);
    }
  });
}

/** Of neighbouring elements, by vector functions; y may be x. */
void softmax_row(const double* x, double* y, int64_t count, bool logarithm) {
  constexpr int64_t kBlock = 256;
  const double largest = kernels::reduce_numbers(kernels::ReduceOp::kMax, x, count);
  double sum = 0, block[kBlock];
  for (int64_t first = 0; first < count; first += kBlock) {
    const int64_t n = std::min(kBlock, count - first);
    double* powers = logarithm ? block : y + first;
    for (int64_t i = 0; i < n; ++i) powers[i] = x[first + i] - largest;
    kernels::unary(kernels::MathOp::kExp, powers, powers, n);
    sum += kernels::reduce_numbers(kernels::ReduceOp::kSum, powers, n);
  }
  const double log_sum = std::log(sum);
  for (int64_t i = 0; i < count; ++i) y[i] = logarithm ? x[i] - largest - log_sum : y[i] / sum;
}

void softmax_slice(const double* x, double* y, int64_t stride, int64_t count, bool logarithm) {
  if (stride == 1) return softmax_row(x, y, count, logarithm);
  double largest = x[0];
  for (int64_t i = 1; i < count; ++i) largest = std::max(largest, x[i * stride]);
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += std::exp(x[i * stride] - largest);
  double log_sum = std::log(sum);
  for (int64_t i = 0; i < count; ++i) {
    double shifted = x[i * stride] - largest;
    y[i * stride] = logarithm ? shifted - log_sum : std::exp(shifted) / sum;
  }
}

float largest_of(const float* x, int64_t count) { return kernels::reduce(kernels::ReduceOp::kMax, x, count); }
double largest_of(const double* x, int64_t count) { return kernels::reduce_numbers(kernels::ReduceOp::kMax, x, count); }

/** 1 at the first of the largest elements, 0 elsewhere. */
template <class T>
void hardmax_slice(const T* x, T* y, int64_t stride, int64_t count) {
  if (stride == 1 && count > 16) {
    T largest = largest_of(x, count);
    if (largest == largest) {
      int64_t place = kernels::find_first(largest, x, count);
      std::fill_n(y, count, T{0});
      y[place] = T{1};
      return;
    }
  }
  int64_t best = 0;
  for (int64_t i = 1; i < count; ++i) {
    if (x[i * stride] > x[best * stride]) best = i;
  }
  for (int64_t i = 0; i < count; ++i) y[i * stride] = i == best ? T{1} : T{0};
}

enum class Kind { kSoftmax, kLogSoftmax, kHardmax };

class Softmax : public OpKernel {
 public:
  explicit Softmax(const KernelInfo& info)
      : kind_(info.node().op_type == "Hardmax"      ? Kind::kHardmax
              : info.node().op_type == "LogSoftmax" ? Kind::kLogSoftmax
                                                    : Kind::kSoftmax),
        flattens_(info.opset() < 13),
        axis_(info.node().int_or("axis", flattens_ ? 1 : -1)) {}

  void compute(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    Tensor& y = context.output(0);
    int64_t count = x.element_count();
    if (count == 0) return;
    Extent extent = extent_of(x.shape());
    ThreadPool& threads = context.threads();
    if (x.type() == ElementType::kDouble) return run(threads, x.data<double>(), y.mutable_data<double>(), extent);
    if (x.type() == ElementType::kFloat) return run(threads, x.data<float>(), y.mutable_data<float>(), extent);
    auto floats = context.scratch<float>(count);
    widen(x.type(), x.raw(), floats.data(), count);
    run(threads, floats.data(), floats.data(), extent);
    narrow(x.type(), floats.data(), y.mutable_raw(), count);
  }

 private:
  Extent extent_of(const Shape& shape) const {
    auto rank = static_cast<int64_t>(shape.rank());
    if (flattens_ && axis_ == rank) return {shape.element_count(), 1, 1};
    if (rank == 0) return {1, 1, 1};
    size_t axis = checked_axis(axis_, shape.rank());
    if (flattens_) return {shape.count_to(axis), shape.count_from(axis), 1};
    return {shape.count_to(axis), shape[axis], shape.count_from(axis + 1)};
  }

  void run(ThreadPool& threads, const float* x, float* y, const Extent& extent) const {
    if (kind_ != Kind::kHardmax) {
      return kernels::softmax(&threads, x, extent.outer, extent.axis, extent.inner, kind_ == Kind::kLogSoftmax, y);
    }
    for_each_slice(threads, extent,
                   [&](int64_t first, int64_t stride) { hardmax_slice(x + first, y + first, stride, extent.axis); });
  }

  void run(ThreadPool& threads, const double* x, double* y, const Extent& extent) const {
    for_each_slice(threads, extent, [&](int64_t first, int64_t stride) {
      if (kind_ == Kind::kHardmax) return hardmax_slice(x + first, y + first, stride, extent.axis);
      softmax_slice(x + first, y + first, stride, extent.axis, kind_ == Kind::kLogSoftmax);
    });
  }

  Kind kind_;
  bool flattens_;
  int64_t axis_;
};

constexpr KernelRow row(const char* name) {
  return {"", name, 1, kLatest, make_kernel<Softmax>, {{0, kFloatTypes}}, Reuse::kInPlace};
}

constexpr KernelRow kRows[] = {row("Softmax"), row("LogSoftmax"), row("Hardmax")};

}  // namespace

extern const KernelTable softmax_rows;
constinit const KernelTable softmax_rows(kRows);

}  // namespace ortolan::cpu::onnx
