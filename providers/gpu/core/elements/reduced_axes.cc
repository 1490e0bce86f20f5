// Merging neighbouring axes from the innermost one outwards.
#include "gpu/core/elements/reduced_axes.h"

#include <string>

#include "gpu/device/error.h"

namespace ortolan::gpu {
namespace {

/** Adds an outer dimension; neighbours in memory become one. */
void add_outer(Grid& grid, int64_t size, int64_t stride, bool joins) {
  if (joins) {
    grid.sizes[4 - grid.used] *= size;
    return;
  }
  if (grid.used == 4) {
    throw Error(ErrorKind::kInvalid, "a reduction has more than 4 separate runs of axes; merge axes by a Reshape");
  }
  grid.used++;
  grid.sizes[4 - grid.used] = size;
  grid.strides[4 - grid.used] = stride;
}

}  // namespace

ReducedAxes reduced_axes(const Shape& shape, const std::vector<bool>& is_reduced) {
  ReducedAxes result;
  int64_t stride = 1;
  int last = -1;  // the kind of the dimension inside, -1 for none
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1) continue;
    add_outer(is_reduced[i] ? result.reduced : result.kept, shape[i], stride, last == is_reduced[i]);
    if (last < 0) result.ends_kept = !is_reduced[i];
    last = is_reduced[i];
    stride *= shape[i];
  }
  return result;
}

Shape reduced_shape(const Shape& shape, const std::vector<bool>& is_reduced, bool keeps) {
  Shape result;
  for (size_t i = 0; i < shape.size(); i++) {
    if (!is_reduced[i]) {
      result.push_back(shape[i]);
    } else if (keeps) {
      result.push_back(1);
    }
  }
  return result;
}

}  // namespace ortolan::gpu
