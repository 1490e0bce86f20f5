// The OpenCL backend as a provider library.
#include "gpu/epkit/exports.h"
#include "opencl/device.h"

namespace ortolan::gpu::opencl {
namespace {

class OpenClBackend : public epkit::Backend {
 public:
  const char* provider() const override { return "OpenCLExecutionProvider"; }
  const char* memory() const override { return "OpenCL"; }
  const char* version() const override { return ORTOLAN_VERSION; }
  const char* half_feature() const override { return "cl_khr_fp16"; }

  std::vector<DeviceTraits> list_devices() override {
    found_ = find_devices();
    std::vector<DeviceTraits> traits;
    for (const FoundDevice& device : found_) traits.push_back(device.traits);
    return traits;
  }

  std::unique_ptr<Device> open(size_t i) override { return open_device(found_.at(i)); }

 private:
  std::vector<FoundDevice> found_;
};

epkit::Backend& backend() {
  static auto* one = new OpenClBackend;
  return *one;
}

}  // namespace
}  // namespace ortolan::gpu::opencl

ORTOLAN_EXPORT_PROVIDER(ortolan::gpu::opencl::backend)
