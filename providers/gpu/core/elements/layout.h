// Where the elements of a tensor lie in memory.
#pragma once

#include "gpu/core/recording.h"

namespace ortolan::gpu {

/** In elements: how far apart along each axis, and where the first one is. */
struct Layout {
  Memory memory;
  std::vector<int64_t> strides;
  int64_t first = 0;
};

/** The strides of the same elements in the same order as another shape, of as many; nothing where none give it. */
std::optional<std::vector<int64_t>> strides_as(const Shape& shape, const std::vector<int64_t>& strides,
                                               const Shape& other);

}  // namespace ortolan::gpu
