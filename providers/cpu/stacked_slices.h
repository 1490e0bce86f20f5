// Slices of equal shape collected one by one into a tensor: the scan outputs of Loop and Scan.
#pragma once

#include "runtime/kernel.h"

namespace ortolan::cpu {
using namespace runtime;

/** Grows with the slices; never beyond the run's limit for one tensor. */
class StackedSlices {
 public:
  /** Appends a copy of the slice; throws when its type or shape differs from the first one's. */
  void append(const Tensor& slice, int64_t max_bytes);
  int64_t count() const { return count_; }
  /** The shape of one slice; NULL before the first. */
  const Shape* slice_shape() const { return count_ > 0 ? &slice_ : nullptr; }
  /** All slices along a new first dimension. Without any, a tensor of the type and dimensions known from `type`
      (unknown ones 0). Ends the collection. */
  Tensor finish(const TypeInfo& type, const std::shared_ptr<Allocator>& allocator);

 private:
  void grow(int64_t slices, int64_t max_bytes);

  Tensor buffer_;  // [capacity, slice…]
  Shape slice_;
  int64_t count_ = 0;
};

/** `tensor` with dimension `from` moved to place `to`; shares the memory when nothing moves. */
Tensor with_axis_moved(KernelContext& context, const Tensor& tensor, size_t from, size_t to);
/** Slice `index` of the first dimension: a view. The type must not be packed. */
Tensor slice_at(const Tensor& tensor, int64_t index);

}  // namespace ortolan::cpu
