// Puts memory, kernels, lists and queues together.
#include "opencl/device.h"

#include "opencl/queue.h"

namespace ortolan::gpu::opencl {
namespace {

class OpenClDevice : public Device {
 public:
  explicit OpenClDevice(const FoundDevice& found) : context_(std::make_shared<Context>(found)) {}

  const DeviceTraits& traits() const override { return context_->traits(); }
  std::unique_ptr<Buffer> allocate(size_t bytes) override;
  std::shared_ptr<const Kernel> load(const KernelSpec& spec, std::span<const std::byte> binary) override {
    context_->fail_if_lost();
    return std::make_shared<OpenClKernel>(context_, spec, binary);
  }
  std::unique_ptr<CommandList> record(std::vector<Launch> launches) override {
    context_->fail_if_lost();
    return std::make_unique<OpenClCommandList>(context_, launches);
  }
  std::unique_ptr<Queue> create_queue() override {
    context_->fail_if_lost();
    return std::make_unique<OpenClQueue>(context_);
  }

 private:
  std::shared_ptr<Context> context_;
};

std::unique_ptr<Buffer> OpenClDevice::allocate(size_t bytes) {
  context_->fail_if_lost();
  size_t most = traits().max_buffer_bytes;
  if (bytes > most) {
    throw Error(ErrorKind::kOutOfMemory, "opencl: a buffer of " + std::to_string(bytes) + " bytes is larger than the " +
                                             std::to_string(most) + " that device '" + traits().name + "' allows");
  }
  return std::make_unique<OpenClBuffer>(context_, std::max<size_t>(bytes, 1));
}

}  // namespace

std::unique_ptr<Device> open_device(const FoundDevice& found) { return std::make_unique<OpenClDevice>(found); }

}  // namespace ortolan::gpu::opencl
