// Products of bytes whose sums become floats, and MatMulIntegerToFloat.
#pragma once

#include "cpu/products/fused_activation.h"
#include "cpu/quantised/byte_product.h"

namespace ortolan::cpu {

/** What makes floats of sums: y = activation(sums * a_scale * b_scale + bias + addend). */
struct FloatFactors {
  float a_scale = 1;
  const Tensor* b_scale = nullptr;  // one value, or one a column
  const Tensor* bias = nullptr;     // one value a column, or NULL
  const Tensor* addend = nullptr;   // of the result's shape, or NULL
  kernels::Activation activation;
};

/** A kernel around such products; the right operand is input 1, the result output 0. */
class FloatByteProduct : public ByteProduct {
 protected:
  explicit FloatByteProduct(const KernelInfo& info) : ByteProduct(info, 1) {}
  void run_to_floats(KernelContext& context, const StackedProduct& p, const ByteOperands& in,
                     const FloatFactors& factors) const;
};

/** Inputs a, b, a_scale, b_scale, a_zero_point, b_zero_point, bias, and, in domain "ortolan", an addend; there it has a
    fused activation too, and the range of the result as second output. */
class MatMulIntegerToFloat final : public FloatByteProduct {
 public:
  explicit MatMulIntegerToFloat(const KernelInfo& info)
      : FloatByteProduct(info), activation_(fused_activation(info.node())) {}
  void compute(KernelContext& context) const override;

 private:
  kernels::Activation activation_;
};

}  // namespace ortolan::cpu
