// What a slice takes of one dimension; the rule and the kernel of Slice share it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/error.h"

namespace ortolan::ops {

/** The elements start, start + step, … (`count` of them), all within the dimension. */
struct SliceRange {
  int64_t start = 0;
  int64_t step = 1;
  int64_t count = 0;
};

/** The range that [start:end:step] takes of a dimension of size `dim`. As numpy has it, but that a start before the
   first element is the first also for negative steps: so the specification says. Throws where the step is 0. */
inline SliceRange slice_range(int64_t dim, int64_t start, int64_t end, int64_t step) {
  base::require(step != 0, base::ErrorCode::kInvalidArgument, "a step of the slice is 0; steps must not be 0");
  step = std::max(step, -INT64_MAX);
  if (start < 0) start += dim;
  if (end < 0) end += dim;
  if (step > 0) {
    start = std::clamp<int64_t>(start, 0, dim);
    end = std::clamp<int64_t>(end, 0, dim);
    return {start, step, end > start ? (end - start - 1) / step + 1 : 0};
  }
  start = std::clamp<int64_t>(start, std::min<int64_t>(dim - 1, 0), dim - 1);
  end = std::clamp<int64_t>(end, -1, dim - 1);
  return {start, step, start > end ? (start - end - 1) / -step + 1 : 0};
}

}  // namespace ortolan::ops
