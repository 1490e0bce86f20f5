// Floating-point tensors seen as arrays of the type a kernel computes in: double for double, float for all others.
#pragma once

#include "runtime/kernels/kernel.h"

namespace ortolan::cpu {
using namespace runtime;

/** The type to compute in: kDouble for double, kFloat for float and the 16-bit types. */
inline ElementType float_compute_type(ElementType type) {
  return type == ElementType::kDouble ? ElementType::kDouble : ElementType::kFloat;
}

/** Converts `count` elements between any two of float, double, float16 and bfloat16, rounding to nearest even. */
void convert_floats(ThreadPool* pool, const void* from, ElementType from_type, void* to, ElementType to_type,
                    int64_t count);
/** The tensor's elements as C: its own memory where it holds C, else a copy that lives as long as this compute(). */
template <class C>
const C* read_as(KernelContext& context, const Tensor& tensor) {
  if (tensor.type() == kTypeOf<C>) return static_cast<const C*>(tensor.raw());
  int64_t count = tensor.element_count();
  C* copy = context.scratch<C>(count).data();
  convert_floats(&context.threads(), tensor.raw(), tensor.type(), copy, kTypeOf<C>, count);
  return copy;
}
/** The same for input i; NULL where it is missing. */
template <class C>
const C* read_input(KernelContext& context, size_t i) {
  const Tensor* tensor = context.input_if(i);
  return tensor ? read_as<C>(context, *tensor) : nullptr;
}
/** A float copy of a constant of any floating-point type, which may be unaligned, or the tensor itself
    where it is float. */
Tensor to_float_tensor(const Tensor& tensor);

/** Output i, to be written as C; finish() converts where the tensor holds another type. */
template <class C>
class OutputAs {
 public:
  OutputAs(KernelContext& context, size_t i) : OutputAs(&context.output(i), context) {}
  OutputAs(KernelContext& context, Tensor& tensor) : OutputAs(&tensor, context) {}
  /** Output i, which may be missing: then data() is NULL and finish() does nothing. */
  static OutputAs optional(KernelContext& context, size_t i) {
    return OutputAs(context.has_output(i) ? &context.output(i) : nullptr, context);
  }
  C* data() { return data_; }
  const Shape& shape() const { return tensor_->shape(); }
  void finish() {
    if (!tensor_ || data_ == tensor_->raw()) return;
    convert_floats(&context_.threads(), data_, kTypeOf<C>, tensor_->mutable_raw(), tensor_->type(),
                   tensor_->element_count());
  }

 private:
  OutputAs(Tensor* tensor, KernelContext& context) : context_(context), tensor_(tensor) {
    if (!tensor) return;
    data_ = tensor->type() == kTypeOf<C> ? static_cast<C*>(tensor->mutable_raw())
                                         : context.scratch<C>(tensor->element_count()).data();
  }

  KernelContext& context_;
  Tensor* tensor_;
  C* data_ = nullptr;
};

}  // namespace ortolan::cpu
