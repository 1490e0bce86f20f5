// Opens the loader and an instance of it.
#include <dlfcn.h>

#include "vulkan/codes.h"
#include "vulkan/platform.h"

namespace ortolan::gpu::vulkan {
namespace {

VkInstance create(Entry entry) {
  auto create = reinterpret_cast<PFN_vkCreateInstance>(entry(nullptr, "vkCreateInstance"));
  auto version = reinterpret_cast<PFN_vkEnumerateInstanceVersion>(entry(nullptr, "vkEnumerateInstanceVersion"));
  if (create == nullptr || version == nullptr) {
    throw Error(ErrorKind::kNoDevice, std::string("vulkan: the loader knows Vulkan 1.0 only") + kHowToInstall);
  }
  VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.pApplicationName = "ortolan";
  application.apiVersion = VK_API_VERSION_1_3;
  VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  info.pApplicationInfo = &application;
  VkInstance instance = VK_NULL_HANDLE;
  VkResult result = create(&info, nullptr, &instance);
  if (result == VK_SUCCESS) return instance;
  throw Error(kind_of(result) == ErrorKind::kOutOfMemory ? ErrorKind::kOutOfMemory : ErrorKind::kNoDevice,
              "vulkan: vkCreateInstance says " + result_name(result) + kHowToInstall);
}

}  // namespace

Entry loader_entry() {
  void* loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  void* entry = loader == nullptr ? nullptr : dlsym(loader, "vkGetInstanceProcAddr");
  if (entry != nullptr) return reinterpret_cast<Entry>(entry);
  throw Error(ErrorKind::kNoDevice,
              std::string("vulkan: there is no loader libvulkan.so.1 (package libvulkan1)") + kHowToInstall);
}

Instance::Instance(Entry entry) : instance_(create(entry)) {
#define ORTOLAN_LOOK_UP(name) call_.name = reinterpret_cast<PFN_vk##name>(entry(instance_, "vk" #name));
  ORTOLAN_VULKAN_OF_INSTANCE(ORTOLAN_LOOK_UP)
#undef ORTOLAN_LOOK_UP
}

Instance::~Instance() { call_.DestroyInstance(instance_, nullptr); }

}  // namespace ortolan::gpu::vulkan
