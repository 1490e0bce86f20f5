// The functions, which forward to those of the loader.
#include "vulkan_faults.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace ortolan::gpu {
namespace {

struct Watched {
  const char* name;
  PFN_vkVoidFunction self;
  PFN_vkVoidFunction real = nullptr;
  bool can_fail = true;
  std::atomic<int> calls{0};
  VkResult result = VK_SUCCESS;
  int works = 0;
  bool once = false, met = false;
};

Watched& watched(size_t i);
VulkanLies lies;

/** The result of a call that fails; VK_SUCCESS where it is to do its work. */
VkResult count(Watched& function) {
  function.calls++;
  if (function.result == VK_SUCCESS || function.works-- > 0 || (function.once && function.met)) return VK_SUCCESS;
  function.met = true;
  return function.result;
}

template <size_t kIndex, class Function>
struct Forward;
template <size_t kIndex, class Result, class... Arguments>
struct Forward<kIndex, Result(VKAPI_PTR*)(Arguments...)> {
  static Result VKAPI_CALL call(Arguments... arguments) {
    Watched& function = watched(kIndex);
    VkResult result = count(function);
    if constexpr (std::is_same_v<Result, VkResult>) {
      if (result != VK_SUCCESS) return result;
    }
    return reinterpret_cast<Result(VKAPI_PTR*)(Arguments...)>(function.real)(arguments...);
  }
};

#define ORTOLAN_FALLIBLE(X)    \
  X(CreateInstance)            \
  X(EnumeratePhysicalDevices)  \
  X(CreateDevice)              \
  X(AllocateMemory)            \
  X(CreateBuffer)              \
  X(BindBufferMemory)          \
  X(MapMemory)                 \
  X(CreateShaderModule)        \
  X(CreatePipelineCache)       \
  X(GetPipelineCacheData)      \
  X(CreateComputePipelines)    \
  X(CreateDescriptorSetLayout) \
  X(CreatePipelineLayout)      \
  X(CreateCommandPool)         \
  X(AllocateCommandBuffers)    \
  X(BeginCommandBuffer)        \
  X(EndCommandBuffer)          \
  X(QueueSubmit)               \
  X(WaitSemaphores)            \
  X(GetSemaphoreCounterValue)  \
  X(CreateSemaphore)           \
  X(CreateDescriptorPool)      \
  X(AllocateDescriptorSets)    \
  X(CreateQueryPool)           \
  X(GetQueryPoolResults)
#define ORTOLAN_COUNTED(X) \
  X(FreeMemory)            \
  X(DestroyPipeline)       \
  X(DestroySemaphore)      \
  X(CmdCopyBuffer)

enum Index {
#define ORTOLAN_INDEX(name) k##name,
  ORTOLAN_FALLIBLE(ORTOLAN_INDEX) ORTOLAN_COUNTED(ORTOLAN_INDEX) kCount
};

#define ORTOLAN_ROW(name, can_fail) \
  {"vk" #name, reinterpret_cast<PFN_vkVoidFunction>(&Forward<k##name, PFN_vk##name>::call), nullptr, can_fail},
#define ORTOLAN_FALLIBLE_ROW(name) ORTOLAN_ROW(name, true)
#define ORTOLAN_COUNTED_ROW(name) ORTOLAN_ROW(name, false)
Watched table[] = {ORTOLAN_FALLIBLE(ORTOLAN_FALLIBLE_ROW) ORTOLAN_COUNTED(ORTOLAN_COUNTED_ROW)};

Watched& watched(size_t i) { return table[i]; }

Watched* find_or_null(const char* name) {
  for (Watched& function : table) {
    if (std::strcmp(function.name, name) == 0) return &function;
  }
  return nullptr;
}

Watched& find(const std::string& name) {
  Watched* found = find_or_null(name.c_str());
  if (found == nullptr) throw std::logic_error(name + " is not watched");
  return *found;
}

PFN_vkVoidFunction watched_or(const char* name, PFN_vkVoidFunction real) {
  Watched* function = find_or_null(name);
  if (function == nullptr || real == nullptr) return real;
  function->real = real;
  return function->self;
}

PFN_vkGetDeviceProcAddr device_functions;
PFN_vkEnumerateDeviceExtensionProperties extensions;
PFN_vkCreateDevice create_device;
PFN_vkGetPhysicalDeviceExternalSemaphoreProperties semaphore_properties;
VkDevice imported_to;
VkSemaphore imported;
PFN_vkGetPhysicalDeviceFeatures2 features;
PFN_vkGetPhysicalDeviceProperties2 properties;
PFN_vkGetPhysicalDeviceMemoryProperties2 memory;
PFN_vkGetPhysicalDeviceQueueFamilyProperties families;

VkResult VKAPI_CALL lying_extensions(VkPhysicalDevice device, const char* layer, uint32_t* count,
                                     VkExtensionProperties* told) {
  const uint32_t room = *count;
  VkResult result = extensions(device, layer, count, told);
  auto add = [&](const char* name) {
    if (told != nullptr && *count < room) std::strcpy(told[*count].extensionName, name);
    ++*count;
  };
  if (lies.semaphores && result == VK_SUCCESS) add(VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME);
  if (!lies.matrices.empty() && result == VK_SUCCESS) add(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME);
  return result;
}
VkResult VKAPI_CALL create_without_lies(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                                        const VkAllocationCallbacks* allocator, VkDevice* device) {
  VkDeviceCreateInfo true_info = *info;
  std::vector<const char*> names(info->ppEnabledExtensionNames,
                                 info->ppEnabledExtensionNames + info->enabledExtensionCount);
  if (lies.semaphores) {
    std::erase_if(names,
                  [](const char* name) { return std::strcmp(name, VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME) == 0; });
  }
  true_info.enabledExtensionCount = static_cast<uint32_t>(names.size());
  true_info.ppEnabledExtensionNames = names.data();
  return create_device(physical, &true_info, allocator, device);
}
void VKAPI_CALL lying_semaphores(VkPhysicalDevice device, const VkPhysicalDeviceExternalSemaphoreInfo* info,
                                 VkExternalSemaphoreProperties* told) {
  semaphore_properties(device, info, told);
  if (lies.semaphores) told->externalSemaphoreFeatures = VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT;
}
VkResult VKAPI_CALL import_semaphore(VkDevice device, const VkImportSemaphoreFdInfoKHR* info) {
  imported_to = device;
  imported = info->semaphore;
  close(info->fd);  // it is the driver's now
  return VK_SUCCESS;
}
PFN_vkVoidFunction VKAPI_CALL watched_device_functions(VkDevice device, const char* name) {
  if (lies.semaphores && std::strcmp(name, "vkImportSemaphoreFdKHR") == 0) {
    return reinterpret_cast<PFN_vkVoidFunction>(&import_semaphore);
  }
  return watched_or(name, device_functions(device, name));
}
/** What kernels with matrices need. The driver and its layers may not know the structure for them, which comes last. */
void tell_of_matrices(VkPhysicalDevice device, VkPhysicalDeviceFeatures2& told) {
  auto& before = in_chain<VkPhysicalDeviceSubgroupSizeControlFeatures>(
      &told, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES);
  void* matrices = std::exchange(before.pNext, nullptr);
  features(device, &told);
  before.pNext = matrices;
  before.subgroupSizeControl = before.computeFullSubgroups = VK_TRUE;
  in_chain<VkPhysicalDeviceCooperativeMatrixFeaturesKHR>(
      &told, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR)
      .cooperativeMatrix = VK_TRUE;
  in_chain<VkPhysicalDeviceVulkanMemoryModelFeatures>(&told,
                                                      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES)
      .vulkanMemoryModel = VK_TRUE;
}
VkResult VKAPI_CALL lying_matrices(VkPhysicalDevice, uint32_t* count, VkCooperativeMatrixPropertiesKHR* told) {
  if (told != nullptr) std::copy_n(lies.matrices.begin(), std::min<size_t>(*count, lies.matrices.size()), told);
  *count = static_cast<uint32_t>(lies.matrices.size());
  return VK_SUCCESS;
}
void VKAPI_CALL lying_features(VkPhysicalDevice device, VkPhysicalDeviceFeatures2* told) {
  if (lies.matrices.empty()) {
    features(device, told);
  } else {
    tell_of_matrices(device, *told);
  }
  if (lies.features) lies.features(*told);
}
void VKAPI_CALL lying_properties(VkPhysicalDevice device, VkPhysicalDeviceProperties2* told) {
  properties(device, told);
  if (!lies.matrices.empty()) {
    auto& sizes = in_chain<VkPhysicalDeviceSubgroupSizeControlProperties>(
        told, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES);
    sizes.minSubgroupSize = 12;
    sizes.requiredSubgroupSizeStages = VK_SHADER_STAGE_COMPUTE_BIT;
  }
  if (lies.properties) lies.properties(*told);
}
void VKAPI_CALL lying_memory(VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties2* told) {
  memory(device, told);
  if (lies.memory) lies.memory(*told);
}
void VKAPI_CALL lying_families(VkPhysicalDevice device, uint32_t* count, VkQueueFamilyProperties* told) {
  families(device, count, told);
  for (uint32_t i = 0; lies.family && told != nullptr && i < *count; i++) lies.family(told[i]);
}

/** Keeps the real function, and gives the other. */
template <class Function>
PFN_vkVoidFunction instead(Function& kept, PFN_vkVoidFunction real, Function other) {
  kept = reinterpret_cast<Function>(real);
  return reinterpret_cast<PFN_vkVoidFunction>(other);
}

}  // namespace

PFN_vkVoidFunction VKAPI_CALL watched_entry(VkInstance instance, const char* name) {
  PFN_vkVoidFunction real = vulkan::loader_entry()(instance, name);
  const std::string asked = name;
  if (asked == "vkGetDeviceProcAddr") return instead(device_functions, real, &watched_device_functions);
  if (asked == "vkEnumerateDeviceExtensionProperties") return instead(extensions, real, &lying_extensions);
  if (asked == "vkGetPhysicalDeviceExternalSemaphoreProperties") {
    return instead(semaphore_properties, real, &lying_semaphores);
  }
  if (!lies.matrices.empty() && asked == "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR") {
    return reinterpret_cast<PFN_vkVoidFunction>(&lying_matrices);
  }
  if (asked == "vkCreateDevice") return instead(create_device, watched_or(name, real), &create_without_lies);
  if (asked == "vkGetPhysicalDeviceFeatures2") return instead(features, real, &lying_features);
  if (asked == "vkGetPhysicalDeviceProperties2") return instead(properties, real, &lying_properties);
  if (asked == "vkGetPhysicalDeviceMemoryProperties2") return instead(memory, real, &lying_memory);
  if (asked == "vkGetPhysicalDeviceQueueFamilyProperties") return instead(families, real, &lying_families);
  return watched_or(name, real);
}

void raise_imported(uint64_t value) {
  auto raise = reinterpret_cast<PFN_vkSignalSemaphore>(device_functions(imported_to, "vkSignalSemaphoreKHR"));
  VkSemaphoreSignalInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO};
  info.semaphore = imported;
  info.value = value;
  if (raise(imported_to, &info) != VK_SUCCESS) throw std::runtime_error("the semaphore cannot be raised");
}

std::vector<std::string> watched_functions() {
  std::vector<std::string> names;
  for (const Watched& function : table) {
    if (function.can_fail) names.emplace_back(function.name);
  }
  return names;
}

FailingVulkan::FailingVulkan(const std::string& function, VkResult result, int works, bool once) : function_(function) {
  Watched& failing = find(function);
  failing.result = result;
  failing.works = works;
  failing.once = once;
  failing.met = false;
}

FailingVulkan::~FailingVulkan() { find(function_).result = VK_SUCCESS; }

bool FailingVulkan::was_met() const { return find(function_).met; }

int vulkan_calls(const std::string& function) { return find(function).calls; }

LyingVulkan::LyingVulkan(VulkanLies told) { lies = std::move(told); }

LyingVulkan::~LyingVulkan() { lies = {}; }

}  // namespace ortolan::gpu
