// Gives the driver a duplicate of the descriptor, which it owns once it has taken it.
#include "vulkan/semaphore.h"

#include <fcntl.h>
#include <unistd.h>

namespace ortolan::gpu::vulkan {

VulkanSemaphore::VulkanSemaphore(std::shared_ptr<Context> context, int file) : context_(std::move(context)) {
  semaphore_ = create_timeline(*context_, "a semaphore");
  VkImportSemaphoreFdInfoKHR import{VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_FD_INFO_KHR};
  import.semaphore = semaphore_;
  import.handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
  import.fd = fcntl(file, F_DUPFD_CLOEXEC, 0);
  const VkResult result = import.fd < 0 ? VK_ERROR_INVALID_EXTERNAL_HANDLE
                                        : context_->call().ImportSemaphoreFdKHR(context_->get(), &import);
  if (result == VK_SUCCESS) return;
  if (import.fd >= 0) close(import.fd);
  context_->call().DestroySemaphore(context_->get(), semaphore_, nullptr);
  throw Error(ErrorKind::kInvalid,
              "vulkan: device '" + context_->traits().name + "' does not take descriptor " + std::to_string(file) +
                  " as a timeline semaphore; give one that a Vulkan device of this driver exported");
}

VulkanSemaphore::~VulkanSemaphore() { context_->call().DestroySemaphore(context_->get(), semaphore_, nullptr); }

}  // namespace ortolan::gpu::vulkan
