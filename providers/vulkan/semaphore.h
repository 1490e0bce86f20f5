// Timeline semaphores of other devices and libraries.
#pragma once

#include "vulkan/context.h"

namespace ortolan::gpu::vulkan {

class VulkanSemaphore : public Semaphore {
 public:
  /** What the descriptor stands for; that stays the caller's. Throws kInvalid where the driver does not take it. */
  VulkanSemaphore(std::shared_ptr<Context> context, int file);
  ~VulkanSemaphore() override;
  VulkanSemaphore(const VulkanSemaphore&) = delete;
  VulkanSemaphore& operator=(const VulkanSemaphore&) = delete;

  VkSemaphore get() const { return semaphore_; }

 private:
  std::shared_ptr<Context> context_;
  VkSemaphore semaphore_ = VK_NULL_HANDLE;
};

}  // namespace ortolan::gpu::vulkan
