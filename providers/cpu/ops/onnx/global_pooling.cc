// GlobalAveragePool, GlobalMaxPool and GlobalLpPool: one value from each plane. 16-bit floats compute in float.
#include <cmath>

#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"
#include "cpu/elements/float_tensors.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/rows/normalization_f32.h"
#include "cpu/kernels/rows/reduce_f32.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

double largest(const double* x, int64_t n) {
  double result = -INFINITY;
  base::polled_loop(n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) result = x[i] > result || std::isnan(x[i]) ? x[i] : result;
  });
  return result;
}

double sum(const double* x, int64_t n) {
  double result = 0;
  base::polled_loop(n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) result += x[i];
  });
  return result;
}

/** (sum |x|^p)^(1/p), summed in double. */
template <class C>
C lp_norm(const C* x, int64_t n, double p) {
  double result = 0;
  base::polled_loop(n, [&](int64_t begin, int64_t end) {
    if (p == 1) {
      for (int64_t i = begin; i < end; ++i) result += std::abs(double(x[i]));
    } else if (p == 2) {
      for (int64_t i = begin; i < end; ++i) result += double(x[i]) * x[i];
    } else {
      for (int64_t i = begin; i < end; ++i) result += std::pow(std::abs(double(x[i])), p);
    }
  });
  return static_cast<C>(p == 1 ? result : p == 2 ? std::sqrt(result) : std::pow(result, 1 / p));
}

/** Calls `reduce(planes, how many, their size, results)`. */
template <class Reduce>
void reduce_planes(KernelContext& context, Reduce&& reduce) {
  const Shape& shape = context.input(0).shape();
  require(shape.rank() >= 2, ErrorCode::kInvalidArgument, "input ", shape, " must have rank 2 or more");
  dispatch<kFloat32And64>(float_compute_type(context.input(0).type()), [&]<class C>(TypeTag<C>) {
    const C* x = read_input<C>(context, 0);
    OutputAs<C> y(context, 0);
    require(y.shape().element_count() == shape.count_to(2), ErrorCode::kInvalidArgument, "input ", shape,
            " has empty planes");
    reduce(x, shape.count_to(2), shape.count_from(2), y.data());
    y.finish();
  });
}

/** Calls `body(plane, size)` for each plane; its result is that plane's output. */
template <class C, class Body>
void for_each_plane(KernelContext& context, const C* x, int64_t planes, int64_t size, C* y, Body&& body) {
  context.threads().parallel_for(planes, kernels::least_rows(size, kernels::kActivationNs),
                                 [&](int64_t begin, int64_t end) {
                                   for (int64_t i = begin; i < end; ++i) y[i] = body(x + i * size, size);
                                 });
}

class GlobalAveragePool final : public OpKernel {
 public:
  explicit GlobalAveragePool(const KernelInfo&) {}
  void compute(KernelContext& context) const override {
    reduce_planes(context, [&]<class C>(const C* x, int64_t planes, int64_t size, C* y) {
      if constexpr (std::is_same_v<C, float>) {
        kernels::reduce_axis(&context.threads(), kernels::ReduceOp::kSum, x, planes, size, 1, y);
      } else {
        for_each_plane(context, x, planes, size, y, [](const double* plane, int64_t n) { return sum(plane, n); });
      }
      for (int64_t i = 0; i < planes; ++i) y[i] /= static_cast<C>(size);
    });
  }
};

class GlobalMaxPool final : public OpKernel {
 public:
  explicit GlobalMaxPool(const KernelInfo&) {}
  void compute(KernelContext& context) const override {
    reduce_planes(context, [&]<class C>(const C* x, int64_t planes, int64_t size, C* y) {
      if constexpr (std::is_same_v<C, float>) {
        kernels::reduce_axis(&context.threads(), kernels::ReduceOp::kMax, x, planes, size, 1, y);
      } else {
        for_each_plane(context, x, planes, size, y, [](const double* plane, int64_t n) { return largest(plane, n); });
      }
    });
  }
};

class GlobalLpPool final : public OpKernel {
 public:
  explicit GlobalLpPool(const KernelInfo& info) {
    p_ = info.opset() < 2 ? info.node().float_or("p", 2) : static_cast<double>(info.node().int_or("p", 2));
    require(p_ > 0, ErrorCode::kInvalidGraph, "p is ", p_, "; it must be positive");
  }
  void compute(KernelContext& context) const override {
    reduce_planes(context, [&]<class C>(const C* x, int64_t planes, int64_t size, C* y) {
      for_each_plane(context, x, planes, size, y, [&](const C* plane, int64_t n) { return lp_norm(plane, n, p_); });
    });
  }

 private:
  double p_;
};

constexpr KernelRow kRows[] = {
    {"", "GlobalAveragePool", 1, kLatest, make_kernel<GlobalAveragePool>, {{0, kFloatTypes}}},
    {"", "GlobalMaxPool", 1, kLatest, make_kernel<GlobalMaxPool>, {{0, kFloatTypes}}},
    {"", "GlobalLpPool", 1, kLatest, make_kernel<GlobalLpPool>, {{0, kFloatTypes}}},
};

}  // namespace

extern const KernelTable global_pooling_rows;
const KernelTable global_pooling_rows(kRows);
}  // namespace ortolan::cpu::onnx
