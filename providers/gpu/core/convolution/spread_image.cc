// Padding and phases of images.
#include "gpu/core/convolution/spread_image.h"

#include <algorithm>

namespace ortolan::gpu {
namespace {

/** Phases that taps meet: none but the first where all taps are multiples of the stride. */
int64_t phases_along(const Window& w, int axis) {
  int64_t most = 0;
  for (int64_t tap = 0; tap < w.kernel[axis]; tap++) {
    most = std::max(most, tap * w.dilation[axis] % w.stride[axis]);
  }
  return most + 1;
}

}  // namespace

Spread spread_of(const Window& w) {
  Spread spread;
  for (int axis = 0; axis < 3; axis++) {
    spread.phases[axis] = phases_along(w, axis);
    spread.size[axis] = (w.kernel[axis] - 1) * w.dilation[axis] / w.stride[axis] + w.out[axis];
  }
  return spread;
}

Spread spread_by_columns(const Window& w) {
  Spread spread = spread_of(w);
  spread.phases[2] = w.kernel[2];
  spread.size[2] = w.out[2];
  spread.by_columns = true;
  return spread;
}

Memory spread_image(Lowering& l, const Window& w, const Spread& spread, int64_t slack) {
  int64_t planes = w.images * w.channels;
  Memory to = l.scratch(static_cast<size_t>(element_count({planes, spread.plane_size()}) + slack) * sizeof(float));
  int64_t rows = planes * spread.plane_size() / spread.size[2];
  bool wide = l.traits().kind == DeviceClass::kWide;
  int64_t rows_of_group = wide ? 32 : 1;
  KernelCall call = l.call("spread_image");
  bool is_half = l.type(0) == ElementType::kFloat16, by_vectors = wide && !is_half && w.stride[2] <= 2;
  call.group(wide ? 1 : 32).constant("HALF", is_half);
  call.constant("STRIDE", by_vectors ? static_cast<int>(w.stride[2]) : 0).read(l.input(0)).write(to);
  call.params(rows, rows_of_group, fields(spread.phases), fields(spread.size), fields(w.in), fields(w.stride));
  call.params(fields(w.begin), l.count(0)).run((rows + rows_of_group - 1) / rows_of_group);
  return to;
}

}  // namespace ortolan::gpu
