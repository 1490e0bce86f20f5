// Puts memory, kernels, lists and queues together.
#include "opencl/device.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "gpu/device/checks.h"
#include "gpu/kernels/kernel_texts.h"
#include "opencl/clblast.h"
#include "opencl/queue.h"

namespace ortolan::gpu::opencl {
namespace {

class OpenClDevice : public Device {
 public:
  explicit OpenClDevice(const FoundDevice& found) : context_(std::make_shared<Context>(found)) {}

  const DeviceTraits& traits() const override { return context_->traits(); }
  std::string identity(std::string_view kernel) const override;
  std::unique_ptr<Buffer> allocate(size_t bytes) override;
  std::shared_ptr<const Kernel> load(const KernelSpec& spec, std::span<const std::byte> binary) override {
    context_->fail_if_lost();
    return std::make_shared<OpenClKernel>(context_, spec, binary);
  }
  ProductLibrary* product_library() override {
    std::call_once(library_is_sought_, [&] { library_ = Clblast::open(context_); });
    return library_.get();
  }
  std::unique_ptr<CommandList> record(std::vector<Launch> launches) override {
    context_->fail_if_lost();
    return std::make_unique<OpenClCommandList>(context_, launches);
  }
  std::unique_ptr<Queue> create_queue(bool timed) override {
    context_->fail_if_lost();
    return std::make_unique<OpenClQueue>(context_, timed);
  }

 private:
  std::shared_ptr<Context> context_;
  std::once_flag library_is_sought_;
  std::unique_ptr<Clblast> library_;
};

std::string OpenClDevice::identity(std::string_view kernel) const {
  const char* text = find_kernel_text(kernel);
  std::string_view dialect = kOpenClDialect, body = text == nullptr ? "" : text;
  uint64_t hash = XXH3_64bits_withSeed(body.data(), body.size(), XXH3_64bits(dialect.data(), dialect.size()));
  return "opencl\n" + traits().name + '\n' + traits().driver + '\n' + std::to_string(hash);
}

std::unique_ptr<Buffer> OpenClDevice::allocate(size_t bytes) {
  context_->fail_if_lost();
  check_buffer_size("opencl", bytes, traits());
  return std::make_unique<OpenClBuffer>(context_, std::max<size_t>(bytes, 1));
}

}  // namespace

std::unique_ptr<Device> open_device(const FoundDevice& found) { return std::make_unique<OpenClDevice>(found); }

}  // namespace ortolan::gpu::opencl
