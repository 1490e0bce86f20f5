// The Vulkan backend as a provider library.
#include "gpu/epkit/exports.h"
#include "vulkan/device.h"

namespace ortolan::gpu::vulkan {
namespace {

std::vector<FoundDevice> find_installed_devices() { return find_devices(loader_entry()); }

class VulkanBackend : public epkit::FindingBackend<find_installed_devices, open_device> {
 public:
  const char* provider() const override { return "VulkanExecutionProvider"; }
  const char* memory() const override { return "Vulkan"; }
  const char* version() const override { return ORTOLAN_VERSION; }
  const char* half_feature() const override { return "shaderFloat16"; }
};

epkit::Backend& backend() {
  static auto* one = new VulkanBackend;
  return *one;
}

}  // namespace
}  // namespace ortolan::gpu::vulkan

ORTOLAN_EXPORT_PROVIDER(ortolan::gpu::vulkan::backend)
