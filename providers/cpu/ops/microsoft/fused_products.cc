// FusedConv, FusedGemm and the FusedMatMul family: the plain kernels with their options.
#include "cpu/convolution/conv.h"
#include "cpu/products/fused_activation.h"
#include "cpu/products/gemm.h"
#include "cpu/products/matmul.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::microsoft {
namespace {

std::unique_ptr<OpKernel> make_matmul(const KernelInfo& info) {
  MatMulOptions options;
  options.trans_a = info.node().int_or("transA", 0) != 0;
  options.trans_b = info.node().int_or("transB", 0) != 0;
  options.batch_a = info.node().int_or("transBatchA", 0) != 0;
  options.batch_b = info.node().int_or("transBatchB", 0) != 0;
  options.alpha = info.node().float_or("alpha", 1);
  options.activation = fused_activation(info.node());
  return std::make_unique<MatMul>(info, options);
}

constexpr KernelRow kRows[] = {
    {"com.microsoft", "FusedConv", 1, kLatest, make_kernel<Conv>, {{0, kHalfTypes | ElementType::kFloat}}},
    {"com.microsoft", "FusedGemm", 1, kLatest, make_kernel<Gemm>, {{0, kHalfTypes | ElementType::kFloat}}},
    {"com.microsoft", "FusedMatMul", 1, kLatest, make_matmul, {{0, kFloatTypes}}},
    {"com.microsoft", "FusedMatMulActivation", 1, kLatest, make_matmul, {{0, kFloatTypes}}},
    {"com.microsoft", "TransposeMatMul", 1, kLatest, make_matmul, {{0, kFloatTypes}}},
};

}  // namespace

extern const KernelTable fused_products_rows;
const KernelTable fused_products_rows(kRows);
}  // namespace ortolan::cpu::microsoft
