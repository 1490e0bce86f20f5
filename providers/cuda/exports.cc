// The CUDA backend as a provider library.
#include "gpu/epkit/exports.h"
#include "cuda/device.h"
#include "cuda/official_options.h"

namespace ortolan::gpu::cuda {
namespace {

class CudaBackend : public epkit::FindingBackend<find_devices, open_device> {
 public:
  const char* provider() const override { return "CUDAExecutionProvider"; }
  const char* memory() const override { return "Cuda"; }
  const char* version() const override { return ORTOLAN_VERSION; }
  const char* half_feature() const override { return "compute capability 5.3"; }

  uint32_t memory_vendor() const override { return 0x10de; }  // NVIDIA's: the memory of all who use CUDA
  std::span<const epkit::ProviderOption> options() const override { return official_options(); }
};

epkit::Backend& backend() {
  static auto* one = new CudaBackend;
  return *one;
}

}  // namespace
}  // namespace ortolan::gpu::cuda

ORTOLAN_EXPORT_PROVIDER(ortolan::gpu::cuda::backend)
