// How many lines an item brings, and in which steps it goes through them.
#include "gpu/core/plane_windows.h"

#include <algorithm>

namespace ortolan::gpu {
namespace {

constexpr int64_t kRoom = 4096;    // floats an item has
constexpr int64_t kMostTaps = 25;  // that are worth a kernel of their own size

struct Strips {
  int64_t pitch, rows;     // elements of a line, rows of places an item makes
  int64_t vectors, lines;  // of places that are made at once
};

bool has_own_size(const Window& w) { return w.taps() <= kMostTaps; }

int64_t reach(const Window& w, int axis) { return (w.kernel[axis] - 1) * w.dilation[axis] + 1; }

Strips strips_of(const DeviceTraits& traits, const Window& w) {
  int64_t width = traits.vector_width;
  Strips strips;
  strips.vectors = w.out[2] >= 4 * width ? 2 : 1;
  strips.pitch = std::max(w.begin[2] + w.in[2], (w.out[2] - 1) * w.stride[2] + reach(w, 2));
  int64_t slack = strips.vectors * width * w.stride[2] + width + w.begin[2];
  int64_t lines = (kRoom - slack) / strips.pitch;
  strips.rows = lines < reach(w, 1) ? 0 : std::min(w.out[1], (lines - reach(w, 1)) / w.stride[1] + 1);
  // What rows share is loaded once where a kernel of their own size knows what that is.
  bool shares = w.dilation[1] == 1 && w.stride[1] == w.stride[2] && w.stride[1] <= 2 && has_own_size(w);
  strips.lines = shares && strips.rows >= 2 && w.out[1] % strips.rows != 1 ? 2 : 1;
  return strips;
}

}  // namespace

bool fits_plane_windows(const DeviceTraits& traits, const Window& w, WindowOp op) {
  if (traits.kind != DeviceClass::kWide) return false;
  if (w.in[0] != 1 || w.kernel[0] != 1 || w.out[0] != 1 || w.begin[0] != 0) return false;
  for (int axis = 1; axis < 3; axis++) {
    // Else a window could meet nothing but padding.
    bool meets = w.dilation[axis] == 1 && w.begin[axis] < w.kernel[axis] && w.end[axis] < w.kernel[axis];
    if (op == WindowOp::kLargest && !meets) return false;
  }
  return strips_of(traits, w).rows > 0;
}

void run_plane_windows(Lowering& l, const Window& w, const PlaneWindows& what, Memory y) {
  Strips strips = strips_of(l.traits(), w);
  int64_t count = (w.out[1] + strips.rows - 1) / strips.rows;
  const bool own_size = has_own_size(w);
  Memory x = l.input(0);
  KernelCall call = l.call("plane_windows");
  call.group(1).constant("OP", static_cast<int>(what.op));
  call.constant("TX", static_cast<int>(strips.vectors)).constant("TY", static_cast<int>(strips.lines));
  call.constant("KERNEL_H", own_size ? static_cast<int>(w.kernel[1]) : 0)
      .constant("KERNEL_W", own_size ? static_cast<int>(w.kernel[2]) : 0)
      .constant("STRIDE", w.stride[2] <= 2 ? static_cast<int>(w.stride[2]) : 0)
      .constant("ROOM", static_cast<int>(kRoom))
      .constant("ADDEND", what.finish.addend.has_value())
      .constant("HALF", l.type(0) == ElementType::kFloat16);
  add_step_constants(call, what.finish);
  call.read(x).read(what.weights.value_or(x)).read(what.finish.addend.value_or(x)).write(y);
  int64_t in_channels = what.op == WindowOp::kWeighted ? w.channels : 1;
  call.params(count, strips.rows, strips.pitch, what.channels, in_channels, what.channels / in_channels);
  call.params(w.in[1], w.in[2], w.out[1], w.out[2], w.kernel[1], w.kernel[2], w.stride[1], w.stride[2]);
  call.params(w.dilation[1], w.dilation[2], w.begin[1], w.begin[2], w.end[1], w.end[2]);
  call.params(l.count(0), what.finish.low, what.finish.high);
  add_step_numbers(call, what.finish);
  int64_t planes = w.images * (what.op == WindowOp::kWeighted ? what.channels : w.channels);
  call.run(planes * count);
}

}  // namespace ortolan::gpu
