// Images that products read where they are, each tap with its own pads and strides.
#pragma once

#include "gpu/core/convolution/window.h"
#include "gpu/core/products/product.h"

namespace ortolan::gpu {

/** Whether products of the device can read input 0 so. */
bool reads_taps(const DeviceTraits& traits, const Window& window);
/** Input 0 as the second operand: rows by channel and tap of a group's channels, columns by place of the output. */
Matrix image_by_taps(const Lowering& l, const Window& window, int64_t group_channels);

}  // namespace ortolan::gpu
