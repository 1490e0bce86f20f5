// Into which lengths Split and SplitToSequence cut a dimension; rules and kernels share it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ortolan::ops {

/** The lengths of `parts` pieces of a dimension of size `dim`: those in `given` (checked to add up to it), else equal
    ones; with `uneven` the last may be shorter. Throws kInvalidArgument with the numbers. */
std::vector<int64_t> split_lengths(int64_t dim, int64_t parts, std::optional<std::span<const int64_t>> given,
                                   bool uneven);

}  // namespace ortolan::ops
