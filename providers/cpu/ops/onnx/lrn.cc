// LRN: each element divided by a power of the sum of squares over neighbouring channels. 16-bit floats use float.
#include <cmath>

#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"
#include "cpu/elements/float_tensors.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/vector_f32.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

void raise(float* x, double exponent, int64_t n) {
  kernels::binary(kernels::BinaryOp::kPow, x, static_cast<float>(exponent), x, n);
}

void raise(double* x, double exponent, int64_t n) {
  for (int64_t i = 0; i < n; ++i) x[i] = std::pow(x[i], exponent);
}

class Lrn final : public OpKernel {
 public:
  explicit Lrn(const KernelInfo& info)
      : size_(info.node().int_of("size")),
        alpha_(info.node().float_or("alpha", 1e-4f)),
        beta_(info.node().float_or("beta", 0.75f)),
        bias_(info.node().float_or("bias", 1.0f)) {
    require(size_ > 0, ErrorCode::kInvalidGraph, "size is ", size_, "; it must be positive");
  }

  void compute(KernelContext& context) const override {
    dispatch<kFloat32And64>(float_compute_type(context.input(0).type()), [&]<class C>(TypeTag<C>) {
      const Shape& shape = context.input(0).shape();
      OutputAs<C> y(context, 0);
      if (shape.element_count() > 0) run(context, shape, read_input<C>(context, 0), y.data());
      y.finish();
    });
  }

 private:
  template <class C>
  void run(KernelContext& context, const Shape& shape, const C* x, C* y) const {
    int64_t channels = shape[1], inner = shape.count_from(2);
    const int64_t least = kernels::least_rows(inner, kernels::kScalarNs);
    context.threads().parallel_for(shape[0] * channels, least, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        int64_t c = row % channels;
        int64_t first = std::max<int64_t>(0, c - (size_ - 1) / 2);
        int64_t last = std::min(channels - 1, size_ / 2 >= channels ? channels - 1 : c + size_ / 2);
        base::polled_loop(
            inner,
            [&](int64_t from, int64_t to) {
              normalize(x + row * inner + from, first - c, last - c, inner, to - from, y + row * inner + from);
            },
            1 + last - first);
      }
    });
  }
  /** `count` elements of a plane; its neighbours lie `first`…`last` planes, of `inner` elements, from it. */
  template <class C>
  void normalize(const C* x, int64_t first, int64_t last, int64_t inner, int64_t count, C* y) const {
    std::fill(y, y + count, C(0));
    for (int64_t n = first; n <= last; ++n) {
      const C* plane = x + n * inner;
      for (int64_t i = 0; i < count; ++i) y[i] += plane[i] * plane[i];
    }
    C scale = static_cast<C>(static_cast<double>(alpha_) / static_cast<double>(size_));
    for (int64_t i = 0; i < count; ++i) y[i] = static_cast<C>(bias_) + scale * y[i];
    raise(y, -static_cast<double>(beta_), count);
    for (int64_t i = 0; i < count; ++i) y[i] *= x[i];
  }

  int64_t size_;
  float alpha_, beta_, bias_;
};

constexpr KernelRow kRows[] = {
    {"", "LRN", 1, kLatest, make_kernel<Lrn>, {{0, kFloatTypes}}},
};

}  // namespace

extern const KernelTable lrn_rows;
const KernelTable lrn_rows(kRows);
}  // namespace ortolan::cpu::onnx
