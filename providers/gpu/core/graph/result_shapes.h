// Shapes of results, the same on the device and in shape arithmetic. Failures throw kInvalid with the node's name.
#pragma once

#include "gpu/core/graph/graph.h"

namespace ortolan::gpu {

/** A negative axis counts from the end. Fails outside of [-rank, rank - 1]. */
size_t checked_axis(const Node& node, int64_t axis, size_t rank);

/** Of Reshape: a 0 copies the input's dimension unless allowzero; one -1 takes what is left. */
Shape reshaped_shape(const Node& node, const Shape& shape, Shape target);
/** Of Squeeze: without `axes` all dimensions of 1 go. They are the input's, or the attribute's where it has none. */
Shape squeezed_shape(const Node& node, const Shape& shape, const std::optional<std::vector<int64_t>>& axes);
/** Of Unsqueeze: `axes` of the result are 1. */
Shape unsqueezed_shape(const Node& node, const Shape& shape, const std::vector<int64_t>& axes);
/** Of Range: how many steps of `delta`, which is not 0, lie before `limit`. */
uint64_t count_of_steps(int64_t start, int64_t limit, int64_t delta);

}  // namespace ortolan::gpu
