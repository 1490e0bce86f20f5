// What kernels ask of their node and their run, as far as no executor is needed.
#include "runtime/kernels/kernel.h"

#include "runtime/providers/devices.h"

namespace ortolan::runtime {
namespace {

const TypeInfo& known_type(const ValueInfo* value) {
  static const TypeInfo* const kUnknown = new TypeInfo;
  return value != nullptr ? value->type : *kUnknown;
}

}  // namespace

const TypeInfo& KernelInfo::input_type(size_t i) const { return known_type(node_.input(i)); }
const TypeInfo& KernelInfo::output_type(size_t i) const { return known_type(node_.output(i)); }

const Tensor* KernelInfo::weights_input(size_t i) const {
  const ValueInfo* value = node_.input(i);
  return value != nullptr ? value->stored_constant() : nullptr;
}

const Tensor* KernelInfo::constant_input(size_t i) const {
  const ValueInfo* value = node_.input(i);
  return value != nullptr ? value->fixed_constant() : nullptr;
}

const Value& KernelContext::input_value(size_t i) const {
  static const Value* const kNone = new Value;
  return i < input_count_ && inputs_[i] != nullptr ? *inputs_[i] : *kNone;
}

void KernelContext::set_output(size_t i, Value value) {
  if (!has_output(i)) return;
  const Tensor* tensor = value.tensor_if();
  if (Tensor* ready = prepared_[i]) {
    copy_elements(value.tensor(), *ready);
  } else if (tensor != nullptr && tensor->owner() == nullptr && !gives_views_) {
    *outputs_[i] = duplicate(*tensor, services());  // borrowed memory may be reused as soon as this node is done
  } else {
    *outputs_[i] = std::move(value);
  }
}

void KernelContext::fail_input(size_t i) const {
  if (has_input(i)) fail(ErrorCode::kInvalidArgument, "input ", i, " is not a tensor, but one is needed");
  fail(ErrorCode::kInvalidArgument, "input ", i, " is missing; connect it or give it a value");
}

}  // namespace ortolan::runtime
