// The OpenCL backend as a provider library.
#include "gpu/epkit/exports.h"
#include "opencl/device.h"

namespace ortolan::gpu::opencl {
namespace {

class OpenClBackend : public epkit::FindingBackend<find_devices, open_device> {
 public:
  const char* provider() const override { return "OpenCLExecutionProvider"; }
  const char* memory() const override { return "OpenCL"; }
  const char* version() const override { return ORTOLAN_VERSION; }
  const char* half_feature() const override { return "cl_khr_fp16"; }
};

epkit::Backend& backend() {
  static auto* one = new OpenClBackend;
  return *one;
}

}  // namespace
}  // namespace ortolan::gpu::opencl

ORTOLAN_EXPORT_PROVIDER(ortolan::gpu::opencl::backend)
