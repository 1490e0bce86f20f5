// The shapes that Reshape, Squeeze and Unsqueeze give a tensor's memory; rules and kernels share them.
#pragma once

#include <optional>
#include <span>

#include "ops/shape_rules.h"

namespace ortolan::ops {

/** The shape that Reshape gives a tensor of shape `input`: in `target` 0 copies the input's dimension (unless
    `allow_zero`), one -1 takes what is left. Throws kInvalidArgument with both shapes when the counts differ. */
Shape reshaped(const Shape& input, std::span<const int64_t> target, bool allow_zero);
/** `input` without the dimensions in `axes`, all of which must be 1; without axes every 1 goes. */
Shape squeezed(const Shape& input, std::optional<std::span<const int64_t>> axes);
/** `input` with dimensions of 1 put in, at the positions `axes` of the result. */
Shape unsqueezed(const Shape& input, std::span<const int64_t> axes);

}  // namespace ortolan::ops
