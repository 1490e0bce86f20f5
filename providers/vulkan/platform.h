// The devices that the installed Vulkan drivers have.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gpu/device/device.h"
#include "vulkan/features.h"
#include "vulkan/functions.h"

namespace ortolan::gpu::vulkan {

constexpr const char* kHowToInstall =
    "; install one of the packages mesa-vulkan-drivers (GPUs of AMD and Intel, any processor), nvidia-vulkan-icd (GPUs "
    "of NVIDIA)";

/** How to look up the functions of an instance: what the loader has, or a test's own. */
using Entry = PFN_vkGetInstanceProcAddr;

/** The loader's, libvulkan.so.1, which stays loaded. Throws kNoDevice where it is not installed. */
Entry loader_entry();

/** Held by all that is of it. */
class Instance {
 public:
  /** Throws kNoDevice where there is no driver for Vulkan 1.1. */
  explicit Instance(Entry entry);
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  VkInstance get() const { return instance_; }
  const InstanceFunctions& call() const { return call_; }

 private:
  VkInstance instance_ = VK_NULL_HANDLE;
  InstanceFunctions call_;
};

struct FoundDevice {
  std::shared_ptr<Instance> instance;
  VkPhysicalDevice device;
  DeviceTraits traits;
  Features features;
  std::vector<const char*> extensions;  // that the features need
  uint32_t queue_family = 0;
  uint32_t queues = 1;          // of that family
  double timestamp_period = 0;  // nanoseconds
  uint64_t timestamp_mask = 0;  // of the bits that count; 0: there are no timestamps
};

/** All devices that can run kernels, in the order of the drivers, but for the features that ORTOLAN_VULKAN_WITHOUT
 * switches off. Throws kNoDevice, with the names of packages that bring a driver and with what each device lacks, where
 * there is none. */
std::vector<FoundDevice> find_devices(Entry entry);

}  // namespace ortolan::gpu::vulkan
