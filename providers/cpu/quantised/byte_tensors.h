// Tensors of int8 and uint8 as the integer kernels take them.
#pragma once

#include "cpu/kernels/quantised/gemm_int8.h"
#include "runtime/kernels/kernel.h"

namespace ortolan::cpu {
using namespace runtime;

inline bool is_signed_byte(const Tensor& tensor) { return tensor.type() == ElementType::kInt8; }
/** Element i of an int8 or uint8 tensor. */
inline int32_t byte_value(const Tensor& tensor, int64_t i = 0) {
  return is_signed_byte(tensor) ? static_cast<const int8_t*>(tensor.raw())[i]
                                : static_cast<const uint8_t*>(tensor.raw())[i];
}
/** The one zero point of a tensor that holds no more; 0 where it is missing. Throws for more. */
inline int32_t single_zero_point(const Tensor* tensor, const char* what) {
  if (!tensor) return 0;
  require(tensor->element_count() == 1, ErrorCode::kInvalidArgument, what, " has shape ", tensor->shape(),
          "; it must hold one value");
  return byte_value(*tensor);
}

}  // namespace ortolan::cpu
