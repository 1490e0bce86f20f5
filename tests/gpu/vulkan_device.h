// Vulkan's first device, for tests.
#pragma once

#include <memory>

#include "gpu/device/device.h"

namespace ortolan::gpu {

/** Has the driver stay loaded until the process ends: whenever it is loaded it takes memory that it never gives back.
 * Mesa keeps what it compiles in the build tree. Throws kNoDevice where there is no driver. */
void keep_vulkan_driver();

/** The same, and the first device. */
std::unique_ptr<Device> open_vulkan();

/** The first device with matrix units, taken for a GPU even where it is a processor: only GPUs' products use them. NULL
 * where none has them. */
std::unique_ptr<Device> open_vulkan_units();

}  // namespace ortolan::gpu
