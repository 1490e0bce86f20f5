// numpy.matmul of floating-point and integer tensors, with what fused operators add to it.
#pragma once

#include "cpu/products/packed_weights.h"

namespace ortolan::cpu {

/** Transposition concerns the last two dimensions of operands of rank 2 and more. Where `batch`, an operand's first
    dimension belongs behind those of its stack: [M, stack..., K] is taken as [stack..., M, K], before transposition. */
struct MatMulOptions {
  bool trans_a = false, trans_b = false;
  bool batch_a = false, batch_b = false;
  float alpha = 1;
  kernels::Activation activation;
};

/** How a product of two stacks of matrices runs: `count` products of [m,k] and [k,n], broadcast over the stacks. */
struct StackedProduct {
  int64_t count = 1, m = 1, n = 1, k = 0;
  int64_t lda = 0, ldb = 0;                        // elements between the rows that lie in memory
  int64_t stride_a = 0, stride_b = 0;              // elements between products, where evenly spaced
  InlinedVector<int64_t, 8> offsets_a, offsets_b;  // of each product otherwise
  int64_t offset_a(int64_t i) const { return offsets_a.empty() ? i * stride_a : offsets_a[i]; }
  int64_t offset_b(int64_t i) const { return offsets_b.empty() ? i * stride_b : offsets_b[i]; }
};
/** Of operands with these shapes; a stack times one matrix (A not transposed) becomes one tall product. Throws where
    inner dimensions differ. */
StackedProduct stacked_product(const Shape& a, const Shape& b, const MatMulOptions& options = {});

/** "gemm_f32 packed 128x768x3072" (m, k, n), or "gemm_f32 12 of 128x64x128": for a report on a kernel. */
std::string product_text(std::string_view kernel, bool packed, const StackedProduct& product);

/** Inputs 0 and 1, of one type, into output 0. Input 2, where the node has it, is a bias of one value a column, input 3
   an addend of the result's shape (floating types only). A constant right operand of rank 1 or 2 is packed once. */
class MatMul final : public OpKernel {
 public:
  MatMul(const KernelInfo& info, MatMulOptions options);
  explicit MatMul(const KernelInfo& info);
  void compute(KernelContext& context) const override;
  KernelReport report(const KernelContext& context) const override;
  ConstantUse constant_use(size_t i) const override {
    bool one_product = !options_.trans_a && !options_.batch_a;  // of a stack by one matrix
    return i == 1 && right_.packed() && one_product ? ConstantUse::kNothing : ConstantUse::kElements;
  }

 private:
  void compute_float(KernelContext& context, const StackedProduct& product) const;
  void compute_double(KernelContext& context, const StackedProduct& product) const;
  template <class T>
  void compute_integer(KernelContext& context, const StackedProduct& product) const;

  MatMulOptions options_;
  RightOperand right_;
};

}  // namespace ortolan::cpu
