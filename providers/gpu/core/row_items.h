// How many work-items share a row.
#pragma once

#include "gpu/device/device.h"

namespace ortolan::gpu {

/** Items of a group that has a row to itself: one on a CPU of wide vectors, where shared memory is no gain. */
inline int row_items(const DeviceTraits& traits) { return traits.kind == DeviceClass::kWide ? 1 : 64; }

}  // namespace ortolan::gpu
