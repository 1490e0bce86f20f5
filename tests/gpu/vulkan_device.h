// Vulkan's first device, for tests.
#pragma once

#include <memory>

#include "gpu/device/device.h"

namespace ortolan::gpu {

/** Throws kNoDevice where there is no driver. Mesa keeps what it compiles in the build tree. */
std::unique_ptr<Device> open_vulkan();

}  // namespace ortolan::gpu
