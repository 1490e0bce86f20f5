// Vulkan's functions, looked up at run time: nothing is linked with the loader.
#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

#include "vulkan/cooperative_matrix.h"

namespace ortolan::gpu::vulkan {

// Each name without its vk. The last of an instance, and the last group, may be missing where an extension is.
#define ORTOLAN_VULKAN_OF_INSTANCE(X)             \
  X(DestroyInstance)                              \
  X(EnumeratePhysicalDevices)                     \
  X(EnumerateDeviceExtensionProperties)           \
  X(GetPhysicalDeviceProperties2)                 \
  X(GetPhysicalDeviceFeatures2)                   \
  X(GetPhysicalDeviceMemoryProperties2)           \
  X(GetPhysicalDeviceQueueFamilyProperties)       \
  X(GetPhysicalDeviceExternalBufferProperties)    \
  X(GetPhysicalDeviceExternalSemaphoreProperties) \
  X(CreateDevice)                                 \
  X(GetDeviceProcAddr)                            \
  X(GetPhysicalDeviceCooperativeMatrixPropertiesKHR)

#define ORTOLAN_VULKAN_OF_DEVICE(X) \
  X(DestroyDevice)                  \
  X(DeviceWaitIdle)                 \
  X(GetDeviceQueue)                 \
  X(QueueSubmit)                    \
  X(AllocateMemory)                 \
  X(FreeMemory)                     \
  X(MapMemory)                      \
  X(CreateBuffer)                   \
  X(DestroyBuffer)                  \
  X(GetBufferMemoryRequirements)    \
  X(BindBufferMemory)               \
  X(CreateShaderModule)             \
  X(DestroyShaderModule)            \
  X(CreatePipelineCache)            \
  X(DestroyPipelineCache)           \
  X(GetPipelineCacheData)           \
  X(CreateComputePipelines)         \
  X(DestroyPipeline)                \
  X(CreateDescriptorSetLayout)      \
  X(DestroyDescriptorSetLayout)     \
  X(CreatePipelineLayout)           \
  X(DestroyPipelineLayout)          \
  X(CreateDescriptorPool)           \
  X(DestroyDescriptorPool)          \
  X(AllocateDescriptorSets)         \
  X(UpdateDescriptorSets)           \
  X(CreateCommandPool)              \
  X(DestroyCommandPool)             \
  X(AllocateCommandBuffers)         \
  X(BeginCommandBuffer)             \
  X(EndCommandBuffer)               \
  X(CmdBindPipeline)                \
  X(CmdBindDescriptorSets)          \
  X(CmdPushConstants)               \
  X(CmdDispatch)                    \
  X(CmdPipelineBarrier)             \
  X(CmdCopyBuffer)                  \
  X(CmdResetQueryPool)              \
  X(CmdWriteTimestamp)              \
  X(CreateQueryPool)                \
  X(DestroyQueryPool)               \
  X(GetQueryPoolResults)            \
  X(CreateSemaphore)                \
  X(DestroySemaphore)               \
  X(WaitSemaphores)                 \
  X(GetSemaphoreCounterValue)

#define ORTOLAN_VULKAN_OF_EXTENSIONS(X) \
  X(CmdPushDescriptorSetKHR)            \
  X(ImportSemaphoreFdKHR)

struct InstanceFunctions {
#define ORTOLAN_MEMBER(name) PFN_vk##name name = nullptr;
  ORTOLAN_VULKAN_OF_INSTANCE(ORTOLAN_MEMBER)
};

struct DeviceFunctions {
  ORTOLAN_VULKAN_OF_DEVICE(ORTOLAN_MEMBER)
  ORTOLAN_VULKAN_OF_EXTENSIONS(ORTOLAN_MEMBER)
#undef ORTOLAN_MEMBER
};

}  // namespace ortolan::gpu::vulkan
