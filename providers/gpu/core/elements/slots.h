// Places in a tensor that index tensors name, as a list of int32 on the device.
#pragma once

#include "gpu/core/elements/moves.h"

namespace ortolan::gpu {

/** The places in `data` of the elements that the indices choose along the axis, an index tensor of input `indices`. */
Memory slots_of_elements(Lowering& l, const Shape& data, size_t indices, size_t axis);

/** The numbers of the slices that tuples of indices name: data's axes from `batch` on are indexed by the last axis of
 *  input `indices`, and the first `batch` axes are common to both. */
Memory slots_of_tuples(Lowering& l, const Shape& data, size_t indices, size_t batch);
/** Fails where the shapes of such data and indices do not fit. */
void require_tuples(const Lowering& l, const Shape& data, const Shape& indices, size_t batch);
inline constexpr size_t kMostIndexedAxes = 8;

/** Refuses other types than int32 and int64. */
std::string refuse_other_indices(const Candidate& candidate, size_t i);

}  // namespace ortolan::gpu
