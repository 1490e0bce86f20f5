// What control flow operators do with tensors outside the CPU's memory, where a provider brings its own way.
#pragma once

#include <span>

#include "runtime/kernels/kernel.h"

namespace ortolan::runtime {

/** Thread-safe. Each returns false where the provider leaves the operation to copies. */
class SliceOperations {
 public:
  virtual ~SliceOperations() = default;
  /** Puts the elements of equal tensors, all in one memory, one after the other into `out` of that memory. */
  virtual bool concat(KernelContext& context, std::span<const Value> slices, Tensor& out) const { return false; }
  /** Dimension i of `out` is dimension permutation[i] of the input; both are in one memory. */
  virtual bool transpose(KernelContext& context, std::span<const size_t> permutation, const Value& input,
                         Value& out) const {
    return false;
  }
};

/** A KernelInfo whose provider brings operations; they live as long as the kernel. */
class SliceKernelInfo : public KernelInfo {
 public:
  using KernelInfo::KernelInfo;
  virtual const SliceOperations& slice_operations() const = 0;
};

/** What the node's provider brings; NULL when copies must do. */
inline const SliceOperations* slice_operations_of(const KernelInfo& info) {
  auto* with = dynamic_cast<const SliceKernelInfo*>(&info);
  return with != nullptr ? &with->slice_operations() : nullptr;
}

}  // namespace ortolan::runtime
