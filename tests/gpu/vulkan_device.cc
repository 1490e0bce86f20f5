// Opens Vulkan's first device.
#include "gpu/vulkan_device.h"

#include <cstdlib>

#include "vulkan/device.h"

namespace ortolan::gpu {
namespace {

const std::vector<vulkan::FoundDevice>& kept_devices() {
  setenv("MESA_SHADER_CACHE_DIR", ORTOLAN_BINARY_DIR "/mesa-cache", 0);
  static const auto* devices = new std::vector<vulkan::FoundDevice>(vulkan::find_devices(vulkan::loader_entry()));
  return *devices;
}

}  // namespace

void keep_vulkan_driver() { kept_devices(); }

std::unique_ptr<Device> open_vulkan() { return vulkan::open_device(kept_devices().front()); }

std::unique_ptr<Device> open_vulkan_units() {
  for (vulkan::FoundDevice found : kept_devices()) {
    found.traits.kind = DeviceClass::kGpu;
    if (found.features.cooperative_matrix) return vulkan::open_device(found);
  }
  return nullptr;
}

}  // namespace ortolan::gpu
