// A loader before the real one: its functions count, fail and lie where a test asks for it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "vulkan/platform.h"

namespace ortolan::gpu {

/** Looks functions up as the loader does. The watched ones are before those of the loader. */
PFN_vkVoidFunction VKAPI_CALL watched_entry(VkInstance instance, const char* name);

/** The watched functions that can fail. */
std::vector<std::string> watched_functions();

/** While it lives, the function gives the result instead of doing its work, after it has worked `works` times. */
class FailingVulkan {
 public:
  FailingVulkan(const std::string& function, VkResult result, int works = 0, bool once = false);
  ~FailingVulkan();
  FailingVulkan(const FailingVulkan&) = delete;
  FailingVulkan& operator=(const FailingVulkan&) = delete;
  /** Whether it failed. */
  bool was_met() const;

 private:
  std::string function_;
};

/** How often the function, which is watched, was called until now. */
int vulkan_calls(const std::string& function);

/** What devices say of themselves, changed before anybody reads it. */
struct VulkanLies {
  std::function<void(VkPhysicalDeviceFeatures2&)> features;
  std::function<void(VkPhysicalDeviceProperties2&)> properties;
  std::function<void(VkPhysicalDeviceMemoryProperties2&)> memory;
  std::function<void(VkQueueFamilyProperties&)> family;
  bool semaphores = false;  // they import semaphores by file descriptors; what is imported stays the device's own
  // Where there are any: they have units for these, and all that kernels for them need, subgroups of 12 items or more.
  std::vector<VkCooperativeMatrixPropertiesKHR> matrices = {};
};

/** Raises the semaphore that was imported last under such a lie, as its exporter does. */
void raise_imported(uint64_t value);

/** Sets the lies, and takes them back at its end. */
class LyingVulkan {
 public:
  explicit LyingVulkan(VulkanLies lies);
  ~LyingVulkan();
  LyingVulkan(const LyingVulkan&) = delete;
  LyingVulkan& operator=(const LyingVulkan&) = delete;
};

/** The structure of that type in a chain; throws where there is none. */
template <class Structure>
Structure& in_chain(void* chain, VkStructureType type) {
  for (auto* each = static_cast<VkBaseOutStructure*>(chain); each != nullptr; each = each->pNext) {
    if (each->sType == type) return *reinterpret_cast<Structure*>(each);
  }
  throw std::logic_error("the structure is not asked for");
}

}  // namespace ortolan::gpu
