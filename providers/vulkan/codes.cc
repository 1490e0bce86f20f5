// The table of Vulkan's results.
#include "vulkan/codes.h"

namespace ortolan::gpu::vulkan {
namespace {

struct Result {
  VkResult result;
  const char* name;
  ErrorKind kind;
};

constexpr Result kResults[] = {
    {VK_ERROR_OUT_OF_HOST_MEMORY, "VK_ERROR_OUT_OF_HOST_MEMORY", ErrorKind::kOutOfMemory},
    {VK_ERROR_OUT_OF_DEVICE_MEMORY, "VK_ERROR_OUT_OF_DEVICE_MEMORY", ErrorKind::kOutOfMemory},
    {VK_ERROR_OUT_OF_POOL_MEMORY, "VK_ERROR_OUT_OF_POOL_MEMORY", ErrorKind::kOutOfMemory},
    {VK_ERROR_FRAGMENTED_POOL, "VK_ERROR_FRAGMENTED_POOL", ErrorKind::kOutOfMemory},
    {VK_ERROR_FRAGMENTATION, "VK_ERROR_FRAGMENTATION", ErrorKind::kOutOfMemory},
    {VK_ERROR_TOO_MANY_OBJECTS, "VK_ERROR_TOO_MANY_OBJECTS", ErrorKind::kOutOfMemory},
    {VK_ERROR_MEMORY_MAP_FAILED, "VK_ERROR_MEMORY_MAP_FAILED", ErrorKind::kOutOfMemory},
    {VK_ERROR_DEVICE_LOST, "VK_ERROR_DEVICE_LOST", ErrorKind::kDeviceLost},
    {VK_ERROR_INITIALIZATION_FAILED, "VK_ERROR_INITIALIZATION_FAILED", ErrorKind::kNoDevice},
    {VK_ERROR_INCOMPATIBLE_DRIVER, "VK_ERROR_INCOMPATIBLE_DRIVER", ErrorKind::kNoDevice},
    {VK_ERROR_LAYER_NOT_PRESENT, "VK_ERROR_LAYER_NOT_PRESENT", ErrorKind::kNoDevice},
    {VK_ERROR_INVALID_SHADER_NV, "VK_ERROR_INVALID_SHADER_NV", ErrorKind::kCompile},
    {VK_ERROR_EXTENSION_NOT_PRESENT, "VK_ERROR_EXTENSION_NOT_PRESENT", ErrorKind::kInternal},
    {VK_ERROR_FEATURE_NOT_PRESENT, "VK_ERROR_FEATURE_NOT_PRESENT", ErrorKind::kInternal},
    {VK_ERROR_INVALID_EXTERNAL_HANDLE, "VK_ERROR_INVALID_EXTERNAL_HANDLE", ErrorKind::kInvalid},
    {VK_ERROR_UNKNOWN, "VK_ERROR_UNKNOWN", ErrorKind::kInternal},
    {VK_TIMEOUT, "VK_TIMEOUT", ErrorKind::kInternal},
};

const Result* find(VkResult result) {
  for (const Result& known : kResults) {
    if (known.result == result) return &known;
  }
  return nullptr;
}

}  // namespace

std::string result_name(VkResult result) {
  const Result* known = find(result);
  return std::string(known == nullptr ? "a result that Vulkan 1.3 does not know" : known->name) + " (" +
         std::to_string(result) + ")";
}

ErrorKind kind_of(VkResult result) {
  const Result* known = find(result);
  return known == nullptr ? ErrorKind::kInternal : known->kind;
}

Error error_of(VkResult result, const char* function, const std::string& asked) {
  ErrorKind kind = kind_of(result);
  return Error(kind, std::string("vulkan: vk") + function + " says " + result_name(result) + ", asked for " + asked +
                         remedy(kind));
}

}  // namespace ortolan::gpu::vulkan
