// Puts memory, kernels, lists and queues together.
#include "cuda/device.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>

#include "cuda/cublas.h"
#include "cuda/external.h"
#include "cuda/queue.h"
#include "gpu/device/checks.h"
#include "gpu/device/shared_device.h"
#include "gpu/kernels/kernel_texts.h"

namespace ortolan::gpu::cuda {
namespace {

class CudaDevice : public Device, public SharedDevice {
 public:
  explicit CudaDevice(const FoundDevice& found) : context_(std::make_shared<Context>(found)) {}

  const DeviceTraits& traits() const override { return context_->traits(); }
  std::string identity(std::string_view kernel) const override;
  std::unique_ptr<Buffer> allocate(size_t bytes) override;
  bool imports_memory() const override { return true; }
  std::unique_ptr<Buffer> import_memory(int file, size_t bytes) override {
    check_buffer_size("cuda", bytes, traits());
    return cuda::import_memory(context_, file, bytes);
  }
  bool imports_semaphores() const override { return true; }
  std::shared_ptr<Semaphore> import_semaphore(int file) override {
    return std::make_shared<CudaSemaphore>(context_, file);
  }
  std::shared_ptr<const Kernel> load(const KernelSpec& spec, std::span<const std::byte> binary) override {
    return std::make_shared<CudaKernel>(context_, spec, binary);
  }
  ProductLibrary* product_library() override {
    std::call_once(library_is_sought_, [&] { library_ = Cublas::open(context_); });
    return library_.get();
  }
  std::unique_ptr<CommandList> record(std::vector<Launch> launches) override {
    auto entered = context_->enter();
    return std::make_unique<CudaCommandList>(context_, launches);
  }
  std::unique_ptr<Queue> create_queue(bool timed) override { return std::make_unique<CudaQueue>(context_, timed); }

  uintptr_t address_of(const Buffer& buffer) const override { return static_cast<const CudaBuffer&>(buffer).address(); }
  bool holds(const void* address) const override;
  Buffer& all_memory() override { return all_memory_; }
  std::unique_ptr<Queue> create_queue_on(void* theirs, bool timed) override {
    return std::make_unique<CudaQueue>(context_, static_cast<CUstream>(theirs), timed);
  }

 private:
  std::shared_ptr<Context> context_;
  CudaBuffer all_memory_;
  std::once_flag library_is_sought_;
  std::unique_ptr<Cublas> library_;
};

bool CudaDevice::holds(const void* address) const {
  constexpr CUresult kNotOfDriver = 1;  // memory of the host that the driver did not make
  const auto pointer = reinterpret_cast<CUdeviceptr>(address);
  auto entered = context_->enter();
  unsigned kind = 0, device = 0;
  CUresult code = context_->driver().cuPointerGetAttribute(&kind, kPointerMemoryType, pointer);
  if (code == kNotOfDriver) return false;
  if (code == kSuccess) code = context_->driver().cuPointerGetAttribute(&device, kPointerDeviceOrdinal, pointer);
  context_->check(code, "cuPointerGetAttribute", [] { return std::string("whose memory a tensor has"); });
  return kind == kMemoryTypeDevice && static_cast<CUdevice>(device) == context_->device();
}

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
