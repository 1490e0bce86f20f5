// Puts memory, kernels, lists and queues together.
#include "cuda/device.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>

#include "cuda/queue.h"
#include "gpu/device/checks.h"
#include "gpu/kernels/kernel_texts.h"

namespace ortolan::gpu::cuda {
namespace {

class CudaDevice : public Device {
 public:
  explicit CudaDevice(const FoundDevice& found) : context_(std::make_shared<Context>(found)) {}

  const DeviceTraits& traits() const override { return context_->traits(); }
  std::string identity(std::string_view kernel) const override;
  std::unique_ptr<Buffer> allocate(size_t bytes) override;
  std::shared_ptr<const Kernel> load(const KernelSpec& spec, std::span<const std::byte> binary) override {
    return std::make_shared<CudaKernel>(context_, spec, binary);
  }
  std::unique_ptr<CommandList> record(std::vector<Launch> launches) override {
    auto entered = context_->enter();
    return std::make_unique<CudaCommandList>(context_, launches);
  }
  std::unique_ptr<Queue> create_queue(bool timed) override { return std::make_unique<CudaQueue>(context_, timed); }

 private:
  std::shared_ptr<Context> context_;
};

std::string CudaDevice::identity(std::string_view kernel) const {
  const char* text = find_kernel_text(kernel);
  std::string_view dialect = kCudaDialect, body = text == nullptr ? "" : text;
  uint64_t hash = XXH3_64bits_withSeed(body.data(), body.size(), XXH3_64bits(dialect.data(), dialect.size()));
  return "cuda\n" + traits().name + '\n' + traits().driver + '\n' + std::to_string(hash);
}

std::unique_ptr<Buffer> CudaDevice::allocate(size_t bytes) {
  check_buffer_size("cuda", bytes, traits());
  return std::make_unique<CudaBuffer>(context_, std::max<size_t>(bytes, 1));
}

}  // namespace

std::unique_ptr<gpu::Device> open_device(const FoundDevice& found) { return std::make_unique<CudaDevice>(found); }

}  // namespace ortolan::gpu::cuda
