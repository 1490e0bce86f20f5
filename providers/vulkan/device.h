// A device of a Vulkan driver.
#pragma once

#include "vulkan/platform.h"

namespace ortolan::gpu::vulkan {

std::unique_ptr<gpu::Device> open_device(const FoundDevice& found);

}  // namespace ortolan::gpu::vulkan
