// The Vulkan backend as a provider library.
#include "gpu/epkit/exports.h"
#include "vulkan/device.h"

namespace ortolan::gpu::vulkan {
namespace {

class VulkanBackend : public epkit::Backend {
 public:
  const char* provider() const override { return "VulkanExecutionProvider"; }
  const char* memory() const override { return "Vulkan"; }
  const char* version() const override { return ORTOLAN_VERSION; }
  const char* half_feature() const override { return "shaderFloat16"; }

  std::vector<DeviceTraits> list_devices() override {
    found_ = find_devices(loader_entry());
    std::vector<DeviceTraits> traits;
    for (const FoundDevice& device : found_) traits.push_back(device.traits);
    return traits;
  }

  std::unique_ptr<Device> open(size_t i) override { return open_device(found_.at(i)); }

 private:
  std::vector<FoundDevice> found_;
};

epkit::Backend& backend() {
  static auto* one = new VulkanBackend;
  return *one;
}

}  // namespace
}  // namespace ortolan::gpu::vulkan

ORTOLAN_EXPORT_PROVIDER(ortolan::gpu::vulkan::backend)
