// Asks the drivers for their devices.
#include "vulkan/platform.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>

#include "gpu/device/checks.h"
#include "vulkan/codes.h"

namespace ortolan::gpu::vulkan {
namespace {

constexpr uint32_t kMostFound = 64;
constexpr uint32_t kMostQueues = 4;  // that sessions share
constexpr int kMostGroupItems = 1024;
constexpr uint32_t kMostUnitSize = 32;        // of a side of matrices that units take whole; the kernel's steps along K
constexpr int64_t kRoundsOfLlvmpipe = 65535;  // of all loops of an item: then they end, and results are wrong
constexpr size_t kParamBytes = 128;

struct Vendor {
  uint32_t id;
  const char* name;
};

constexpr Vendor kVendors[] = {{0x1002, "AMD"},      {0x1010, "Imagination"}, {0x10de, "NVIDIA"}, {0x13b5, "ARM"},
                               {0x14e4, "Broadcom"}, {0x5143, "Qualcomm"},    {0x8086, "Intel"},  {0x10005, "Mesa"}};

/** What a device says of itself, as far as it is asked. */
struct Told {
  VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  VkPhysicalDeviceSubgroupProperties subgroup{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
  VkPhysicalDeviceMaintenance3Properties memory{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES};
  VkPhysicalDeviceDriverProperties driver{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
  VkPhysicalDeviceSubgroupSizeControlProperties subgroup_sizes{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES};

  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  VkPhysicalDevice16BitStorageFeatures storage16{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES};
  VkPhysicalDevice8BitStorageFeatures storage8{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES};
  VkPhysicalDeviceShaderFloat16Int8Features small{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES};
  VkPhysicalDeviceTimelineSemaphoreFeatures timeline{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES};
  VkPhysicalDeviceShaderIntegerDotProductFeatures dot{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES};
  VkPhysicalDeviceCooperativeMatrixFeaturesKHR matrix{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR,
                                                      nullptr, VK_FALSE, VK_FALSE};
  VkPhysicalDeviceVulkanMemoryModelFeatures model{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES};
  VkPhysicalDeviceSubgroupSizeControlFeatures subgroup_control{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES};
  UnitMatrices matrices;  // that its units take whole; none: 0 items
  std::set<std::string> extensions;

  bool has(const char* extension) const { return extensions.count(extension) != 0; }
  const VkPhysicalDeviceLimits& limits() const { return properties.properties.limits; }
};

void chain(void* first, std::initializer_list<void*> rest) {
  auto* last = static_cast<VkBaseOutStructure*>(first);
  for (void* next : rest) {
    last->pNext = static_cast<VkBaseOutStructure*>(next);
    last = last->pNext;
  }
}

void ask_extensions(const InstanceFunctions& call, VkPhysicalDevice device, Told& told) {
  uint32_t count = 0;
  if (call.EnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr) != VK_SUCCESS) return;
  std::vector<VkExtensionProperties> found(count);
  if (call.EnumerateDeviceExtensionProperties(device, nullptr, &count, found.data()) < 0) return;
  found.resize(std::min<size_t>(count, found.size()));
  for (const VkExtensionProperties& extension : found) told.extensions.insert(extension.extensionName);
}

/** Whether our kernel can be made of them: by halves, of which its shared memory has eight together, into floats. */
bool suits(const VkCooperativeMatrixPropertiesKHR& matrix) {
  auto fits = [](uint32_t size) { return size > 0 && size % 8 == 0 && size <= kMostUnitSize; };
  return matrix.scope == VK_SCOPE_SUBGROUP_KHR && !matrix.saturatingAccumulation && fits(matrix.MSize) &&
         fits(matrix.NSize) && fits(matrix.KSize) && kMostUnitSize % matrix.KSize == 0 &&
         matrix.AType == VK_COMPONENT_TYPE_FLOAT16_KHR && matrix.BType == VK_COMPONENT_TYPE_FLOAT16_KHR &&
         matrix.CType == VK_COMPONENT_TYPE_FLOAT32_KHR && matrix.ResultType == VK_COMPONENT_TYPE_FLOAT32_KHR;
}

/** The largest that suit, of a subgroup of the least size: other sizes are no faster, and some units know no other. */
void ask_matrices(const InstanceFunctions& call, VkPhysicalDevice device, Told& told) {
  auto get = call.GetPhysicalDeviceCooperativeMatrixPropertiesKHR;
  const bool has_all = told.has(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME) && get != nullptr &&
                       told.matrix.cooperativeMatrix && told.model.vulkanMemoryModel &&
                       told.subgroup_control.subgroupSizeControl && told.subgroup_control.computeFullSubgroups &&
                       (told.subgroup_sizes.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0;
  uint32_t count = 0;
  if (!has_all || get(device, &count, nullptr) != VK_SUCCESS) return;
  VkCooperativeMatrixPropertiesKHR none{};
  none.sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR;
  std::vector<VkCooperativeMatrixPropertiesKHR> found(count, none);
  if (get(device, &count, found.data()) < 0) return;
  found.resize(std::min<size_t>(count, found.size()));
  uint32_t largest = 0;
  for (const VkCooperativeMatrixPropertiesKHR& matrix : found) {
    if (!suits(matrix) || matrix.MSize * matrix.NSize * matrix.KSize <= largest) continue;
    largest = matrix.MSize * matrix.NSize * matrix.KSize;
    told.matrices = {static_cast<int>(matrix.MSize), static_cast<int>(matrix.NSize), static_cast<int>(matrix.KSize),
                     static_cast<int>(told.subgroup_sizes.minSubgroupSize)};
  }
}

void ask(const InstanceFunctions& call, VkPhysicalDevice device, Told& told) {
  ask_extensions(call, device, told);
  chain(&told.properties, {&told.subgroup, &told.memory, &told.driver, &told.subgroup_sizes});
  call.GetPhysicalDeviceProperties2(device, &told.properties);
  chain(&told.features,
        {&told.storage16, &told.storage8, &told.small, &told.timeline, &told.dot, &told.model, &told.subgroup_control});
  // Validation layers complain of structures that are newer than they are.
  if (told.has(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME)) chain(&told.subgroup_control, {&told.matrix});
  call.GetPhysicalDeviceFeatures2(device, &told.features);
  ask_matrices(call, device, told);
}

/** What every kernel relies on; empty where all of it is there. */
std::string lacks(const Told& told) {
  const VkPhysicalDeviceLimits& limits = told.limits();
  if (told.properties.properties.apiVersion < VK_API_VERSION_1_1) return "Vulkan 1.1";
  if (!told.features.features.shaderInt16) return "shaderInt16";
  if (!told.small.shaderInt8) return "shaderInt8";
  if (!told.storage16.storageBuffer16BitAccess) return "storageBuffer16BitAccess";
  if (!told.storage8.storageBuffer8BitAccess) return "storageBuffer8BitAccess";
  if (!told.timeline.timelineSemaphore) return "timelineSemaphore";
  if (limits.maxPushConstantsSize < kParamBytes) return "push constants of 128 bytes";
  return "";
}

constexpr uint32_t kSharingItems = 8;  // of the groups whose items share values (K_SHARE)

Features features_of(const Told& told, const VkPhysicalDeviceMemoryProperties& memory) {
  constexpr VkSubgroupFeatureFlags kUsed =
      VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_ARITHMETIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
  Features features;
  features.int64 = told.features.features.shaderInt64;
  features.half_arithmetic = told.small.shaderFloat16;
  features.subgroup = (told.subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0 &&
                      (told.subgroup.supportedOperations & kUsed) == kUsed &&
                      told.subgroup.subgroupSize >= kSharingItems;
  features.int_dot = told.dot.shaderIntegerDotProduct;
  features.cooperative_matrix = told.matrices.items > 0;
  features.push_descriptor = told.has(VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME);
  features.memory_budget = told.has(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
  features.external_memory = told.has(VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME);
  features.external_semaphore = told.has(VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME);
  for (uint32_t i = 0; i < memory.memoryTypeCount; i++) {
    constexpr VkMemoryPropertyFlags kShared =
        VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    features.mapped |= (memory.memoryTypes[i].propertyFlags & kShared) == kShared;
  }
  const char* switched_off = std::getenv("ORTOLAN_VULKAN_WITHOUT");
  return without(features, switched_off == nullptr ? "" : switched_off);
}

std::vector<const char*> extensions_of(const Told& told, const Features& features) {
  std::vector<const char*> names;
  auto add = [&](bool wanted, const char* name) {
    if (wanted && told.has(name)) names.push_back(name);
  };
  add(true, VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME);
  add(true, VK_KHR_8BIT_STORAGE_EXTENSION_NAME);
  add(true, VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME);
  add(features.int_dot, VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME);
  add(features.cooperative_matrix, VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME);
  add(features.cooperative_matrix, VK_KHR_VULKAN_MEMORY_MODEL_EXTENSION_NAME);
  add(features.cooperative_matrix, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
  add(features.push_descriptor, VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME);
  add(features.memory_budget, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
  add(features.external_memory, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME);
  add(features.external_semaphore, VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME);
  return names;
}

std::string vendor_of(uint32_t id) {
  for (const Vendor& vendor : kVendors) {
    if (vendor.id == id) return vendor.name;
  }
  return "vendor " + std::to_string(id);
}

std::string text_of(const char* text, size_t size) { return {text, strnlen(text, size)}; }

std::string version_of(uint32_t version) {
  return std::to_string(VK_API_VERSION_MAJOR(version)) + '.' + std::to_string(VK_API_VERSION_MINOR(version)) + '.' +
         std::to_string(VK_API_VERSION_PATCH(version));
}

DeviceType type_of(VkPhysicalDeviceType type) {
  return type == VK_PHYSICAL_DEVICE_TYPE_CPU ? DeviceType::kCpu : DeviceType::kGpu;
}

size_t largest_heap(const VkPhysicalDeviceMemoryProperties& memory) {
  VkDeviceSize largest = 0;
  for (uint32_t i = 0; i < memory.memoryHeapCount; i++) {
    if (memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) {
      largest = std::max(largest, memory.memoryHeaps[i].size);
    }
  }
  return largest;
}

DeviceTraits traits_of(const Told& told, const Features& features, const VkPhysicalDeviceMemoryProperties& memory) {
  const VkPhysicalDeviceProperties& device = told.properties.properties;
  DeviceTraits traits;
  traits.type = type_of(device.deviceType);
  traits.name = text_of(device.deviceName, sizeof device.deviceName);
  traits.vendor = vendor_of(device.vendorID);
  traits.driver = text_of(told.driver.driverName, sizeof told.driver.driverName) + ' ' +
                  text_of(told.driver.driverInfo, sizeof told.driver.driverInfo) + ", driver " +
                  std::to_string(device.driverVersion) + ", Vulkan " + version_of(device.apiVersion);
  traits.kind = traits.type == DeviceType::kCpu ? DeviceClass::kLanes : DeviceClass::kGpu;
#if defined(__x86_64__)
  if (traits.type == DeviceType::kCpu && !__builtin_cpu_supports("avx512vl")) traits.vector_registers = 16;
#endif
  traits.max_group_items = static_cast<int>(std::min<uint32_t>(
      {told.limits().maxComputeWorkGroupInvocations, told.limits().maxComputeWorkGroupSize[0], kMostGroupItems}));
  std::copy_n(told.limits().maxComputeWorkGroupCount, 3, traits.max_groups.begin());
  if (traits.type == DeviceType::kCpu) traits.max_rounds = kRoundsOfLlvmpipe;
  traits.shared_bytes = told.limits().maxComputeSharedMemorySize;
  traits.memory_bytes = largest_heap(memory);
  traits.max_buffer_bytes = told.memory.maxMemoryAllocationSize;
  traits.max_binding_bytes = told.limits().maxStorageBufferRange;
  traits.offset_alignment = told.limits().minStorageBufferOffsetAlignment;
  traits.has_int64 = features.int64;
  traits.has_half_arithmetic = features.half_arithmetic;
  traits.matrix_units.half = features.cooperative_matrix;
  if (features.cooperative_matrix) traits.matrix_units.whole = told.matrices;
  return with_sane_bounds(std::move(traits));
}

/** One that computes, and draws not, where there is one: it runs beside the desktop. -1: there is none. */
int queue_family(const InstanceFunctions& call, VkPhysicalDevice device, FoundDevice& found) {
  uint32_t count = kMostFound;
  VkQueueFamilyProperties families[kMostFound];
  call.GetPhysicalDeviceQueueFamilyProperties(device, &count, families);
  int best = -1;
  for (uint32_t i = 0; i < count; i++) {
    if (families[i].queueCount == 0 || !(families[i].queueFlags & VK_QUEUE_COMPUTE_BIT)) continue;
    if (best < 0 || !(families[i].queueFlags & VK_QUEUE_GRAPHICS_BIT)) best = static_cast<int>(i);
  }
  if (best < 0) return best;
  found.queue_family = static_cast<uint32_t>(best);
  found.queues = std::min(families[best].queueCount, kMostQueues);
  const uint32_t bits = families[best].timestampValidBits;
  found.timestamp_mask = bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  return best;
}

/** Adds the device, or to `lacking` what it lacks. */
void add(const std::shared_ptr<Instance>& instance, VkPhysicalDevice device, std::vector<FoundDevice>& all,
         std::string& lacking) {
  Told told;
  ask(instance->call(), device, told);
  FoundDevice found{instance, device};
  std::string lacked = lacks(told);
  if (lacked.empty() && queue_family(instance->call(), device, found) < 0) lacked = "a queue that computes";
  if (!lacked.empty()) {
    const VkPhysicalDeviceProperties& said = told.properties.properties;
    lacking += "; device '" + text_of(said.deviceName, sizeof said.deviceName) + "' lacks " + lacked;
    return;
  }
  VkPhysicalDeviceMemoryProperties2 memory{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};
  instance->call().GetPhysicalDeviceMemoryProperties2(device, &memory);
  found.features = features_of(told, memory.memoryProperties);
  found.extensions = extensions_of(told, found.features);
  found.traits = traits_of(told, found.features, memory.memoryProperties);
  found.timestamp_period = told.limits().timestampPeriod;
  all.push_back(std::move(found));
}

}  // namespace

std::vector<FoundDevice> find_devices(Entry entry) {
  auto instance = std::make_shared<Instance>(entry);
  uint32_t count = kMostFound;
  VkPhysicalDevice devices[kMostFound];
  check(instance->call().EnumeratePhysicalDevices(instance->get(), &count, devices), "EnumeratePhysicalDevices",
        [] { return std::string("the devices"); });
  std::vector<FoundDevice> found;
  std::string lacking;
  for (uint32_t i = 0; i < count; i++) add(instance, devices[i], found, lacking);
  if (!found.empty()) return found;
  throw Error(ErrorKind::kNoDevice,
              "vulkan: no installed driver has a device that runs the kernels" + lacking + kHowToInstall);
}

}  // namespace ortolan::gpu::vulkan
