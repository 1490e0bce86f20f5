// Places of columns, and which taps of theirs lie inside.
#include "gpu/core/convolution/tap_image.h"

namespace ortolan::gpu {
namespace {

constexpr int64_t kMostTaps = 31;

Triple triple_at(int64_t number, const Triple& sizes) {
  return {number / (sizes[1] * sizes[2]), number / sizes[2] % sizes[1], number % sizes[2]};
}

/** The element at `at` of a plane, inside of it or not. */
int64_t place(const Window& w, const Triple& at) { return (at[0] * w.in[1] + at[1]) * w.in[2] + at[2]; }

Triple tap_shift(const Window& w, int64_t tap) {
  Triple at = triple_at(tap, w.kernel);
  for (int axis = 0; axis < 3; axis++) at[axis] *= w.dilation[axis];
  return at;
}

/** A bit for each tap of the window that begins at `start`. */
int32_t taps_inside(const Window& w, const Triple& start) {
  int32_t bits = 0;
  for (int64_t tap = 0; tap < w.taps(); tap++) {
    Triple shift = tap_shift(w, tap);
    bool inside = true;
    for (int axis = 0; axis < 3; axis++) {
      int64_t at = start[axis] + shift[axis];
      inside = inside && at >= 0 && at < w.in[axis];
    }
    bits |= static_cast<int32_t>(inside) << tap;
  }
  return bits;
}

}  // namespace

bool reads_taps(const DeviceTraits& traits, const Window& w) {
  return multiplies_in_lanes(traits) && w.taps() <= kMostTaps;
}

Matrix image_by_taps(const Lowering& l, const Window& w, int64_t group_channels) {
  Matrix image;
  image.input = 0;
  image.type = l.type(0);
  image.column = 1;
  image.inner = group_channels * w.in_size();
  image.outer = w.channels * w.in_size();
  image.taps = w.taps();
  for (int64_t row = 0; row < group_channels * w.taps(); row++) {
    int64_t channel = row / w.taps();
    image.offsets.push_back(
        static_cast<int32_t>(channel * w.in_size() + place(w, tap_shift(w, row - channel * w.taps()))));
  }
  for (int64_t column = 0; column < w.out_size(); column++) {
    Triple start = triple_at(column, w.out);
    for (int axis = 0; axis < 3; axis++) start[axis] = start[axis] * w.stride[axis] - w.begin[axis];
    image.columns.push_back(static_cast<int32_t>(place(w, start)));
    image.there.push_back(taps_inside(w, start));
  }
  return image;
}

}  // namespace ortolan::gpu
