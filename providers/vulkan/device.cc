// Puts memory, kernels, lists and queues together.
#include "vulkan/device.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "gpu/device/checks.h"
#include "vulkan/queue.h"
#include "vulkan/semaphore.h"
#include "vulkan/spirv.h"

namespace ortolan::gpu::vulkan {
namespace {

constexpr size_t kNothingBytes = 16;

class VulkanDevice : public Device {
 public:
  explicit VulkanDevice(const FoundDevice& found)
      : context_(std::make_shared<Context>(found)),
        memory_(std::make_shared<MemoryPool>(context_, MemoryPool::Kind::kDevice)),
        staging_(std::make_shared<MemoryPool>(context_, MemoryPool::Kind::kStaging)),
        nothing_(memory_->allocate(kNothingBytes)) {}

  ~VulkanDevice() override { context_->release_retired(); }

  const DeviceTraits& traits() const override { return context_->traits(); }
  std::string identity(std::string_view kernel) const override;
  std::unique_ptr<Buffer> allocate(size_t bytes) override {
    context_->fail_if_lost();
    check_buffer_size("vulkan", bytes, traits());
    return std::make_unique<VulkanBuffer>(context_, memory_->allocate(bytes), bytes);
  }
  bool imports_memory() const override;
  std::unique_ptr<Buffer> import_memory(int file, size_t bytes) override {
    context_->fail_if_lost();
    check_buffer_size("vulkan", bytes, traits());
    return std::make_unique<VulkanBuffer>(context_, memory_->import(file, bytes), bytes);
  }
  bool imports_semaphores() const override;
  std::shared_ptr<Semaphore> import_semaphore(int file) override {
    context_->fail_if_lost();
    return std::make_shared<VulkanSemaphore>(context_, file);
  }
  std::shared_ptr<const Kernel> load(const KernelSpec& spec, std::span<const std::byte> binary) override {
    context_->fail_if_lost();
    return std::make_shared<VulkanKernel>(context_, spec, binary);
  }
  std::unique_ptr<CommandList> record(std::vector<Launch> launches) override {
    context_->fail_if_lost();
    return std::make_unique<VulkanCommandList>(context_, nothing_, std::move(launches));
  }
  std::unique_ptr<Queue> create_queue(bool timed) override {
    context_->fail_if_lost();
    return std::make_unique<VulkanQueue>(context_, *staging_, timed);
  }

 private:
  std::shared_ptr<Context> context_;
  std::shared_ptr<MemoryPool> memory_, staging_;
  std::shared_ptr<Piece> nothing_;
};

bool VulkanDevice::imports_memory() const {
  if (!context_->features().external_memory) return false;
  VkPhysicalDeviceExternalBufferInfo info{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO};
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
  info.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
  VkExternalBufferProperties properties{VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
  const FoundDevice& found = context_->found();
  found.instance->call().GetPhysicalDeviceExternalBufferProperties(found.device, &info, &properties);
  const VkFlags features = properties.externalMemoryProperties.externalMemoryFeatures;
  return (features & VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT) != 0;
}

bool VulkanDevice::imports_semaphores() const {
  if (!context_->features().external_semaphore || context_->call().ImportSemaphoreFdKHR == nullptr) return false;
  VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO};
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkPhysicalDeviceExternalSemaphoreInfo info{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO, &type};
  info.handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
  VkExternalSemaphoreProperties properties{VK_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_PROPERTIES};
  const FoundDevice& found = context_->found();
  found.instance->call().GetPhysicalDeviceExternalSemaphoreProperties(found.device, &info, &properties);
  return (properties.externalSemaphoreFeatures & VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT) != 0;
}

std::string VulkanDevice::identity(std::string_view kernel) const {
  std::span<const uint32_t> words = spirv_of(kernel, context_->features(), true).words;
  uint64_t hash = XXH3_64bits(words.data(), words.size_bytes());
  return "vulkan\n" + traits().name + '\n' + traits().driver + '\n' + std::to_string(hash);
}

}  // namespace

std::unique_ptr<Device> open_device(const FoundDevice& found) { return std::make_unique<VulkanDevice>(found); }

}  // namespace ortolan::gpu::vulkan
