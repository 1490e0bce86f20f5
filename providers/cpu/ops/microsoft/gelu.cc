// Gelu, FastGelu, BiasGelu and QuickGelu. All types but double compute in float.
#include <cmath>

#include "base/threads/thread_pool.h"
#include "cpu/elements/float_tensors.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/vector_f32.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::microsoft {
namespace {
using kernels::Activation;
using kernels::UnaryOp;

void apply(Activation f, const float* x, float* y, int64_t n) { kernels::unary(f, x, y, n); }

void apply(Activation f, const double* x, double* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    double v = x[i];
    switch (f.op) {
      case UnaryOp::kGelu:
        y[i] = v / 2 * (1 + std::erf(v / std::sqrt(2.0)));
        break;
      case UnaryOp::kGeluTanh:
        y[i] = v / 2 * (1 + std::tanh(0.7978845608028654 * (v + 0.044715 * v * v * v)));
        break;
      default:
        y[i] = v / (1 + std::exp(-static_cast<double>(f.p0) * v));
    }
  }
}

void add(const float* x, const float* bias, float* y, int64_t n) {
  kernels::binary(kernels::BinaryOp::kAdd, x, bias, y, n);
}

void add(const double* x, const double* bias, double* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] + bias[i];
}

class GeluKernel : public OpKernel {
 public:
  explicit GeluKernel(Activation function) : function_(function) {}

  void compute(KernelContext& context) const override {
    dispatch<kFloat32And64>(float_compute_type(context.input(0).type()), [&]<class C>(TypeTag<C>) {
      const Tensor& x = context.input(0);
      const C* values = read_as<C>(context, x);
      const C* bias = read_input<C>(context, 1);
      OutputAs<C> y(context, 0);
      int64_t count = x.element_count(), row = bias ? context.input(1).element_count() : 4096;
      require(!bias || (x.rank() > 0 && row == x.shape().back()), ErrorCode::kInvalidArgument,
              "the bias needs one value for the last dimension of ", x.shape());
      if (count == 0) return y.finish();
      int64_t rows = (count + row - 1) / row;
      const int64_t least = kernels::least_rows(row, kernels::kActivationNs);
      context.threads().parallel_for(rows, least, [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) {
          int64_t at = r * row, size = std::min(row, count - at);
          if (bias) add(values + at, bias, y.data() + at, size);
          apply(function_, bias ? y.data() + at : values + at, y.data() + at, size);
        }
      });
      y.finish();
    });
  }

 private:
  Activation function_;
};

template <UnaryOp op>
std::unique_ptr<OpKernel> make(const KernelInfo& info) {
  return std::make_unique<GeluKernel>(Activation{op, info.node().float_or("alpha", 1.702f)});
}

constexpr KernelRow kRows[] = {
    {"com.microsoft", "Gelu", 1, kLatest, make<UnaryOp::kGelu>, {{0, kFloatTypes}}},
    {"com.microsoft", "BiasGelu", 1, kLatest, make<UnaryOp::kGelu>, {{0, kFloatTypes}}},
    {"com.microsoft", "FastGelu", 1, kLatest, make<UnaryOp::kGeluTanh>, {{0, kFloatTypes}}},
    {"com.microsoft", "QuickGelu", 1, kLatest, make<UnaryOp::kQuickGelu>, {{0, kFloatTypes}}},
};

}  // namespace

extern const KernelTable gelu_rows;
const KernelTable gelu_rows(kRows);
}  // namespace ortolan::cpu::microsoft
