// Element types as the kernels name them.
#pragma once

#include <optional>

#include "base/error.h"
#include "cpu/kernels/elementwise/number.h"
#include "tensor/element_type.h"

namespace ortolan::cpu {

/** The kernels' number type of elements of `type`; nothing where they are not plain integers, floats, doubles or bools.
 */
constexpr std::optional<kernels::Number> number_of(tensor::ElementType type) {
  using kernels::Number;
  using tensor::ElementType;
  switch (type) {
    case ElementType::kBool:
      return Number::kBool;
    case ElementType::kUInt8:
      return Number::kU8;
    case ElementType::kInt8:
      return Number::kS8;
    case ElementType::kUInt16:
      return Number::kU16;
    case ElementType::kInt16:
      return Number::kS16;
    case ElementType::kUInt32:
      return Number::kU32;
    case ElementType::kInt32:
      return Number::kS32;
    case ElementType::kUInt64:
      return Number::kU64;
    case ElementType::kInt64:
      return Number::kS64;
    case ElementType::kFloat:
      return Number::kF32;
    case ElementType::kDouble:
      return Number::kF64;
    default:
      return std::nullopt;
  }
}

/** The same for the elements of a first input, whose type may be unknown only where it is left out. */
inline kernels::Number number_of_first(tensor::ElementType type) {
  const auto number = number_of(type);
  base::require(number.has_value(), base::ErrorCode::kInvalidGraph,
                "its first input is left out or has no type; give it");
  return *number;
}

}  // namespace ortolan::cpu
