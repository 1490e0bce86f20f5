// Conv in fp32 (16-bit floats too) and fp64, with a residual and an activation that fusing adds.
#pragma once

#include "cpu/convolution/convolution_geometry.h"

namespace ortolan::cpu {

/** Weights [out, in/group, kernel...] of floats, 16-bit ones too, packed once; they may be unaligned. */
std::shared_ptr<const kernels::PackedConvWeights> packed_conv_weights(const KernelInfo& info, const Tensor& weights,
                                                                      const ConvForm& form);

/** Inputs X, W, B and, from fused operators, Z (added before the activation). Constant weights are packed once. */
class Conv final : public OpKernel {
 public:
  explicit Conv(const KernelInfo& info);
  void compute(KernelContext& context) const override;
  KernelReport report(const KernelContext& context) const override;
  ConstantUse constant_use(size_t i) const override {
    return i == 1 && weights_ != nullptr ? ConstantUse::kNothing : ConstantUse::kElements;
  }

 private:
  void compute_float(KernelContext& context) const;
  void compute_double(KernelContext& context) const;

  ConvolutionAttributes attributes_;
  kernels::Activation activation_;
  std::shared_ptr<const kernels::PackedConvWeights> weights_;
};

}  // namespace ortolan::cpu
