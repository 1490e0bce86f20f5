// What the operators of ai.onnx.ml have in common.
#pragma once

#include "ops/schema.h"

namespace ortolan::ops::ml {

inline constexpr const char* kDomain = "ai.onnx.ml";
inline constexpr TypeSet kNumbers =
    ElementType::kFloat | ElementType::kDouble | ElementType::kInt64 | ElementType::kInt32;

}  // namespace ortolan::ops::ml
