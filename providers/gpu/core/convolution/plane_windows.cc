// By class of device: lines in room of an item's own (plane_windows.k), or tiles of places (tile_windows.k).
#include "gpu/core/convolution/plane_windows.h"

#include <algorithm>

#include "gpu/core/elements/row_items.h"

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

/** Places that an item makes of each plane, in rows of tiles. */
struct PlaceTiles {
  int w = 4, h = 4;
  int64_t across, down;
  explicit PlaceTiles(const Window& window) {
    if (window.stride[1] > 1) h = 2;
    across = divide_up(window.out[2], w);
    down = divide_up(window.out[1], h);
  }
  int64_t count() const { return across * down; }
};

bool fits_tiles(const Window& w) {
  bool apart = w.stride[1] == w.stride[2] && w.stride[1] <= 2;
  return apart && w.dilation == Triple{1, 1, 1} && has_own_size(w);
}

/** Constants and buffers that both kernels have. */
void add_windows(Lowering& l, KernelCall& call, const PlaneWindows& what, Memory y) {
  Memory x = l.input(0);
  call.constant("OP", static_cast<int>(what.op));
  call.constant("ADDEND", what.finish.addend.has_value()).constant("HALF", l.type(0) == ElementType::kFloat16);
  add_step_constants(call, what.finish);
  call.read(x).read(what.weights.value_or(x)).read(what.finish.addend.value_or(x)).write(y);
}

void run_tile_windows(Lowering& l, const Window& w, const PlaneWindows& what, Memory y) {
  const PlaceTiles tiles(w);
  const bool weighted = what.op == WindowOp::kWeighted;
  int64_t in_channels = weighted ? w.channels : 1;
  int64_t items = w.images * (weighted ? what.channels : w.channels) * tiles.count();
  KernelCall call = l.call("tile_windows");
  call.group(kLaneItems).constant("TX", tiles.w).constant("TY", tiles.h);
  call.constant("KERNEL_H", static_cast<int>(w.kernel[1])).constant("KERNEL_W", static_cast<int>(w.kernel[2]));
  call.constant("STRIDE", static_cast<int>(w.stride[1]));
  add_windows(l, call, what, y);
  call.params(items, tiles.count(), tiles.across, what.channels, in_channels, what.channels / in_channels);
  call.params(w.in[1], w.in[2], w.out[1], w.out[2], w.begin[1], w.begin[2], w.end[1], w.end[2]);
  call.params(what.finish.low, what.finish.high);
  add_step_numbers(call, what.finish);
  call.run_items(items);
}

}  // namespace

bool fits_plane_windows(const DeviceTraits& traits, const Window& w, WindowOp op) {
  if (traits.kind == DeviceClass::kGpu) return false;
  if (w.in[0] != 1 || w.kernel[0] != 1 || w.out[0] != 1 || w.begin[0] != 0) return false;
  for (int axis = 1; axis < 3; axis++) {
    if (w.in[axis] == 0) return false;  // places outside are read at the nearest inside
    // Else a window could meet nothing but padding.
    bool meets = w.dilation[axis] == 1 && w.begin[axis] < w.kernel[axis] && w.end[axis] < w.kernel[axis];
    if (op == WindowOp::kLargest && !meets) return false;
  }
  return traits.kind == DeviceClass::kLanes ? fits_tiles(w) : strips_of(traits, w).rows > 0;
}

void run_plane_windows(Lowering& l, const Window& w, const PlaneWindows& what, Memory y) {
  if (l.traits().kind == DeviceClass::kLanes) return run_tile_windows(l, w, what, y);
  Strips strips = strips_of(l.traits(), w);
  int64_t count = (w.out[1] + strips.rows - 1) / strips.rows;
  const bool own_size = has_own_size(w);
  KernelCall call = l.call("plane_windows");
  call.group(1).constant("TX", static_cast<int>(strips.vectors)).constant("TY", static_cast<int>(strips.lines));
  call.constant("KERNEL_H", own_size ? static_cast<int>(w.kernel[1]) : 0)
      .constant("KERNEL_W", own_size ? static_cast<int>(w.kernel[2]) : 0)
      .constant("STRIDE", w.stride[2] <= 2 ? static_cast<int>(w.stride[2]) : 0)
      .constant("ROOM", static_cast<int>(kRoom));
  add_windows(l, call, what, y);
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
