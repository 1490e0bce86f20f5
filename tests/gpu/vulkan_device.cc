// Opens Vulkan's first device.
#include "gpu/vulkan_device.h"

#include <cstdlib>

#include "vulkan/device.h"

namespace ortolan::gpu {

std::unique_ptr<Device> open_vulkan() {
  setenv("MESA_SHADER_CACHE_DIR", ORTOLAN_BINARY_DIR "/mesa-cache", 0);
  return vulkan::open_device(vulkan::find_devices(vulkan::loader_entry()).front());
}

}  // namespace ortolan::gpu
