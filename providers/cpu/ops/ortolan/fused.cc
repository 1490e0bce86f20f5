// The operators of domain "ortolan": products and convolutions with an epilogue, and an activation alone.
#include "base/threads/thread_pool.h"
#include "cpu/convolution/conv.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/vector_f32.h"
#include "cpu/products/fused_activation.h"
#include "cpu/products/gemm.h"
#include "cpu/products/matmul.h"
#include "cpu/quantised/matmul_integer_to_float.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::ortolan {
namespace {

constexpr TypeSet kTypes = kHalfTypes | ElementType::kFloat;
/** y = activation(x), element by element. */
class ElementwiseActivation final : public OpKernel {
 public:
  explicit ElementwiseActivation(const KernelInfo& info) : activation_(fused_activation(info.node())) {}

  KernelReport report(const KernelContext& context) const override {
    return {join("elementwise", activation_text(context.node())), {}};
  }

  void compute(KernelContext& context) const override {
    OutputAs<float> y(context, 0);
    const float* from = read_input<float>(context, 0);
    float* to = y.data();
    const int64_t least = kernels::least_items(kernels::kActivationNs);
    context.threads().parallel_for(y.shape().element_count(), least, [&](int64_t begin, int64_t end) {
      kernels::unary(activation_, from + begin, to + begin, end - begin);
    });
    y.finish();
  }

 private:
  kernels::Activation activation_;
};

constexpr KernelRow kRows[] = {
    {"ortolan", "Activation", 1, kLatest, make_kernel<ElementwiseActivation>, {{0, kTypes}}, Reuse::kInPlace},
    {"ortolan", "Conv", 1, kLatest, make_kernel<Conv>, {{0, kTypes}}},
    {"ortolan", "Gemm", 1, kLatest, make_kernel<Gemm>, {{0, kTypes}}},
    {"ortolan", "MatMul", 1, kLatest, make_kernel<MatMul>, {{0, kTypes}}},
    {"ortolan", "MatMulIntegerToFloat", 1, kLatest, make_kernel<MatMulIntegerToFloat>, {{2, kTypes}}},
};

}  // namespace

extern const KernelTable fused_rows;
const KernelTable fused_rows(kRows);
}  // namespace ortolan::cpu::ortolan
