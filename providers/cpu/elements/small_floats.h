// float16 and bfloat16 elements to and from float, in the blocks that kernels compute on.
#pragma once

#include "cpu/kernels/elementwise/convert.h"
#include "tensor/element_type.h"
#include "tensor/tensor.h"

namespace ortolan::cpu {
using namespace tensor;

/** The type that elements of `type` are computed in: float for float16 and bfloat16, otherwise `type`. */
constexpr ElementType compute_type(ElementType type) { return kHalfTypes.contains(type) ? ElementType::kFloat : type; }

/** Elements of float16 or bfloat16 to float. */
inline void widen(ElementType type, const void* from, float* to, int64_t count) {
  auto* bits = static_cast<const uint16_t*>(from);
  type == ElementType::kFloat16 ? kernels::half_to_float(bits, to, count) : kernels::bfloat16_to_float(bits, to, count);
}
/** Floats to float16 or bfloat16, rounded to nearest even. */
inline void narrow(ElementType type, const float* from, void* to, int64_t count) {
  auto* bits = static_cast<uint16_t*>(to);
  type == ElementType::kFloat16 ? kernels::float_to_half(from, bits, count)
                                : kernels::float_to_bfloat16(from, bits, count);
}

/** Elements that are converted at a time where a loop runs over float16 or bfloat16; fits the first-level cache. */
inline constexpr int64_t kConversionBlock = 512;

}  // namespace ortolan::cpu
