// Gemm: activation(alpha * op(A) * op(B) + beta * C), C spread over the result.
#pragma once

#include "cpu/products/packed_weights.h"

namespace ortolan::cpu {

/** Inputs A, B and, where present, C; attributes transA, transB, alpha, beta and a fused activation (float only). */
class Gemm final : public OpKernel {
 public:
  explicit Gemm(const KernelInfo& info);
  void compute(KernelContext& context) const override;
  KernelReport report(const KernelContext& context) const override;
  ConstantUse constant_use(size_t i) const override {
    return i == 1 && right_.packed() ? ConstantUse::kNothing : ConstantUse::kElements;
  }

 private:
  struct Sizes {
    int64_t m, n, k, lda, ldb;
  };
  Sizes sizes(const KernelContext& context) const;
  void compute_float(KernelContext& context, const Sizes& sizes) const;
  void compute_double(KernelContext& context, const Sizes& sizes) const;
  template <class T>
  void compute_integer(KernelContext& context, const Sizes& sizes) const;

  bool trans_a_, trans_b_;
  float alpha_, beta_;
  kernels::Activation activation_;
  RightOperand right_;
};

}  // namespace ortolan::cpu
