// Windows over planes, whose items bring lines that windows share: pools and convolutions of one channel a group.
#pragma once

#include "gpu/core/convolution/window.h"
#include "gpu/core/products/product.h"

namespace ortolan::gpu {

enum class WindowOp { kLargest = 0, kMeanInside = 1, kMeanPadded = 2, kWeighted = 3 };

struct PlaneWindows {
  WindowOp op = WindowOp::kLargest;
  int64_t channels = 1;           // of the result
  std::optional<Memory> weights;  // [channels][taps], for kWeighted
  Finish finish = {};             // of a sum; it adds to channels and has no residual
};

/** Whether such a kernel does it: the device has it, the planes have two dimensions, and lines fit. */
bool fits_plane_windows(const DeviceTraits& traits, const Window& window, WindowOp op);
/** Input 0 to y, of the same type. */
void run_plane_windows(Lowering& l, const Window& window, const PlaneWindows& what, Memory y);

}  // namespace ortolan::gpu
