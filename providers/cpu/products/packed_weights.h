// Constant weights packed once for the kernels, shared through the session's cache.
#pragma once

#include "cpu/elements/float_tensors.h"
#include "cpu/kernels/products/gemm_f32.h"
#include "cpu/products/packed_form.h"

namespace ortolan::cpu {

/** The K x N right operand of fp32 products: packed when the weights are constant, else whatever each run brings. */
class RightOperand {
 public:
  RightOperand() = default;
  /** Packs input `i` (float or a 16-bit float type) of rank 2, [K, N] or [N, K] where transposed, if it is constant.
      Also takes a rank-1 input as [K, 1]. Other inputs leave it empty. */
  RightOperand(const KernelInfo& info, size_t i, bool transposed);
  const kernels::PackedMatrix* packed() const { return packed_.get(); }

 private:
  std::shared_ptr<const kernels::PackedMatrix> packed_;
};

}  // namespace ortolan::cpu
