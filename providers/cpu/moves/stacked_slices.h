// Slices of equal shape collected one by one into a tensor: the scan outputs of Loop and Scan.
#pragma once

#include "runtime/kernels/slice_operations.h"

namespace ortolan::cpu {
using namespace runtime;

/** Grows with the slices; never beyond the run's limit for one tensor. Slices outside the CPU's memory are kept, and
    only their provider touches their elements. */
class StackedSlices {
 public:
  /** Appends a copy of the slice; throws when its type or shape differs from the first one's. */
  void append(const Tensor& slice, int64_t max_bytes);
  int64_t count() const { return count_; }
  /** The shape of one slice; NULL before the first. */
  const Shape* slice_shape() const { return count_ > 0 ? &slice_ : nullptr; }
  /** All slices along a new first dimension, where the slices are. Without any, a tensor in `memory` (NULL: the CPU's)
      of the type and dimensions known from `type` (unknown ones 0). Ends the collection. */
  Tensor finish(const TypeInfo& type, KernelContext& context, const MemoryInfo* memory,
                const SliceOperations* operations);

 private:
  void grow(int64_t slices, int64_t max_bytes);
  void keep(const Tensor& slice, int64_t max_bytes);
  Tensor join_kept(KernelContext& context, const SliceOperations* operations);

  Tensor buffer_;  // [capacity, slice…], on the CPU
  std::vector<Value> kept_;
  Shape slice_;
  int64_t count_ = 0;
};

/** `tensor` with dimension `from` moved to place `to`; shares the memory when nothing moves. */
Tensor with_axis_moved(KernelContext& context, const Tensor& tensor, size_t from, size_t to,
                       const SliceOperations* operations = nullptr);
/** Slice `index` of the first dimension: a view. The type must not be packed. */
Tensor slice_at(const Tensor& tensor, int64_t index);
/** An uninitialised tensor for the time of the run; `memory` NULL: the CPU's. */
Tensor new_tensor(KernelContext& context, const MemoryInfo* memory, ElementType type, const Shape& shape);
/** Copies elements between tensors in any memory. */
void copy_anywhere(KernelContext& context, const Tensor& from, Tensor& to);
/** The tensor where the CPU can read it: itself, or a copy. */
Tensor on_host(const KernelContext& context, const Tensor& tensor);
/** Where output i of the node is to be; NULL: on the CPU. */
inline const MemoryInfo* output_memory(const KernelContext& context, size_t i) {
  const ValueInfo* output = context.node().output(i);
  return output != nullptr ? output->memory : nullptr;
}

}  // namespace ortolan::cpu
