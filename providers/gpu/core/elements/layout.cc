// Strides of one shape as those of another.
#include "gpu/core/elements/layout.h"

namespace ortolan::gpu {
namespace {

/** Axes that lie evenly, as one. */
struct Run {
  int64_t size, stride;
};

/** From the last to the first. */
std::vector<Run> runs_of(const Shape& shape, const std::vector<int64_t>& strides) {
  std::vector<Run> runs;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1) continue;
    if (!runs.empty() && strides[i] == runs.back().size * runs.back().stride) {
      runs.back().size *= shape[i];
    } else {
      runs.push_back({shape[i], strides[i]});
    }
  }
  return runs;
}

}  // namespace

std::optional<std::vector<int64_t>> strides_as(const Shape& shape, const std::vector<int64_t>& strides,
                                               const Shape& other) {
  if (shape == other) return strides;
  if (element_count(shape) == 0 || element_count(shape) != element_count(other)) return {};
  std::vector<Run> runs = runs_of(shape, strides);
  std::vector<int64_t> result(other.size(), 0);
  size_t run = 0;
  for (size_t i = other.size(); i-- > 0;) {
    if (other[i] == 1) continue;
    if (runs[run].size % other[i] != 0) return {};
    result[i] = runs[run].stride;
    runs[run] = {runs[run].size / other[i], runs[run].stride * other[i]};
    if (runs[run].size == 1) run++;
  }
  return result;
}

}  // namespace ortolan::gpu
