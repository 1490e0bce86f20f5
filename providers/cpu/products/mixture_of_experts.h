// What MoE and QMoE share: routing, activation, and the sum of the experts' results.
#pragma once

#include "cpu/kernels/elementwise/activation.h"
#include "cpu/products/expert_division.h"
#include "cpu/products/moe_routing.h"

namespace ortolan::cpu {

/** Tokens go through fc1, an activation and fc2; with fc3 the activation of fc1 is multiplied by fc3. The swiglu
    activation has a gate and a linear part, which fc1 gives side by side or one after the other, or fc1 and fc3 give:
    gate * sigmoid(alpha * gate) * (linear + beta), the gate at most `limit`, the linear part within it. */
class MixtureOfExperts : public OpKernel {
 public:
  void compute(KernelContext& context) const override;

 protected:
  enum Layer { kFc1, kFc2, kFc3 };
  struct Sizes {
    int64_t tokens, hidden, inter, experts;
    int64_t fc1_columns;
    bool gated;  // there is an fc3
  };

  explicit MixtureOfExperts(const KernelInfo& info);

  /** fc1's results for each of the experts' inner values. */
  int64_t parts() const { return swiglu_ && fusion_ != 0 ? 2 : 1; }
  /** Where the inputs are. */
  virtual size_t bias_input(Layer layer) const = 0;
  virtual size_t weights_input(Layer layer) const = 0;
  virtual const float* given_weights(KernelContext& context, const Sizes& sizes) const = 0;
  virtual RoutingWeights plain_routing() const = 0;
  /** Experts, hidden and inner sizes as the weights say; checks them against each other. */
  virtual Sizes weight_sizes(const KernelContext& context) const = 0;
  /** Whether the layer's weights are packed; else multiply does it each time. */
  virtual bool is_packed(Layer layer) const = 0;
  /** c[m, columns] = a * weights of the expert's layer + bias. */
  virtual void multiply(KernelContext& context, ThreadPool* threads, Layer layer, const Sizes& sizes, int64_t expert,
                        int64_t m, const float* a, const float* bias, float* c) const = 0;

 private:
  struct Operands;
  struct Between;
  Sizes sizes(const KernelContext& context) const;
  const float* bias(KernelContext& context, Layer layer, int64_t experts, int64_t columns) const;
  Routes route(KernelContext& context, const Sizes& sizes) const;
  void run_blocks(KernelContext& context, const Sizes& sizes, const Operands& operands) const;
  void run_block(KernelContext& context, ThreadPool* threads, const Sizes& sizes, const Operands& operands,
                 const ExpertRows& block, const Between& between) const;
  void activate(ThreadPool* threads, const Sizes& sizes, int64_t rows, float* fc1, float* fc3, float* out) const;
  void apply_swiglu(int64_t inner, float* linear, float* gate) const;

  int64_t top_, fusion_;
  bool swiglu_ = false, normalize_, sparse_mixer_;
  kernels::Activation activation_;
  float alpha_, beta_, limit_;
};

}  // namespace ortolan::cpu
