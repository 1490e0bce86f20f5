// A shape split into axes that stay and axes that are reduced, neighbours of a kind merged: what kernels loop over.
#pragma once

#include "gpu/core/graph/element_type.h"

namespace ortolan::gpu {

/** At most four dimensions, the last ones used; the others have size 1. */
struct Grid {
  int64_t sizes[4] = {1, 1, 1, 1};
  int64_t strides[4] = {0, 0, 0, 0};
  int used = 0;

  int64_t count() const { return sizes[0] * sizes[1] * sizes[2] * sizes[3]; }
  /** What k_place of strided.k takes after its item. */
  std::vector<int64_t> place_params() const {
    return {sizes[1], sizes[2], sizes[3], strides[0], strides[1], strides[2], strides[3]};
  }
};

struct ReducedAxes {
  Grid kept, reduced;
  bool ends_kept = false;  // the innermost dimension above 1 stays
};

/** Throws kInvalid where merging leaves more than four of a kind, which takes a rank above 8. */
ReducedAxes reduced_axes(const Shape& shape, const std::vector<bool>& is_reduced);

/** The shape with reduced axes as 1, or without them. */
Shape reduced_shape(const Shape& shape, const std::vector<bool>& is_reduced, bool keeps);

}  // namespace ortolan::gpu
