// Files in memory, and memory of a Vulkan device of the test's own.
#include "imports/exporter.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <memory>
#include <span>

#include "conformance_host/suite.h"

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

namespace ortolan::plugin_test {
namespace {

class FileInMemory : public SharedMemory {
 public:
  explicit FileInMemory(size_t bytes) : file_(memfd_create("exported", MFD_CLOEXEC)), size_(bytes) {
    expect(ftruncate(file_, static_cast<off_t>(bytes)) == 0, "no file in memory can be made");
    start_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    expect(start_ != MAP_FAILED, "the file in memory cannot be mapped");
  }
  ~FileInMemory() override {
    munmap(start_, size_);
    close(file_);
  }
  int descriptor() const override { return fcntl(file_, F_DUPFD_CLOEXEC, 0); }
  std::span<std::byte> bytes() override { return {static_cast<std::byte*>(start_), size_}; }

 private:
  const int file_;
  const size_t size_;
  void* start_ = nullptr;
};

#define FOR_EACH_FUNCTION(X)                   \
  X(EnumeratePhysicalDevices)                  \
  X(GetPhysicalDeviceExternalBufferProperties) \
  X(GetPhysicalDeviceMemoryProperties)         \
  X(CreateDevice)                              \
  X(CreateBuffer)                              \
  X(DestroyBuffer)                             \
  X(GetBufferMemoryRequirements)               \
  X(AllocateMemory)                            \
  X(FreeMemory)                                \
  X(BindBufferMemory)                          \
  X(MapMemory)                                 \
  X(GetMemoryFdKHR)

/** A device that exports memory, for as long as the process. */
struct Exporter {
#define MEMBER(name) PFN_vk##name name = nullptr;
  FOR_EACH_FUNCTION(MEMBER)
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  VkDevice device = VK_NULL_HANDLE;  // none where it does not export
};

void succeed(VkResult result, const char* function) {
  expect(result == VK_SUCCESS, std::string("vk") + function + " gives " + std::to_string(result));
}

constexpr auto kHandle = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
constexpr auto kUsage =
    VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;

bool exports_buffers(const Exporter& call) {
  VkPhysicalDeviceExternalBufferInfo info{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO};
  info.usage = kUsage;
  info.handleType = kHandle;
  VkExternalBufferProperties properties{VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
  call.GetPhysicalDeviceExternalBufferProperties(call.physical, &info, &properties);
  constexpr VkFlags kBoth = VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT;
  return (properties.externalMemoryProperties.externalMemoryFeatures & kBoth) == kBoth;
}

void open_device(Exporter& call) {
  const float priority = 1;
  VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  const char* extension = VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME;
  VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = 1;
  info.ppEnabledExtensionNames = &extension;
  succeed(call.CreateDevice(call.physical, &info, nullptr, &call.device), "CreateDevice");
}

Exporter make_exporter() {
  void* loader = dlopen("libvulkan.so.1", RTLD_NOW);
  expect(loader != nullptr, "there is no libvulkan.so.1");
  auto look_up = reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(loader, "vkGetInstanceProcAddr"));
  auto create = reinterpret_cast<PFN_vkCreateInstance>(look_up(nullptr, "vkCreateInstance"));
  VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.apiVersion = VK_API_VERSION_1_1;
  VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  info.pApplicationInfo = &application;
  VkInstance instance = VK_NULL_HANDLE;
  succeed(create(&info, nullptr, &instance), "CreateInstance");
  Exporter call;
#define LOOK_UP(name) call.name = reinterpret_cast<PFN_vk##name>(look_up(instance, "vk" #name));
  FOR_EACH_FUNCTION(LOOK_UP)
  uint32_t count = 1;
  call.EnumeratePhysicalDevices(instance, &count, &call.physical);
  expect(count == 1, "there is no Vulkan device");
  if (exports_buffers(call)) open_device(call);
  return call;
}

const Exporter& exporter() {
  static const Exporter one = make_exporter();
  return one;
}

class VulkanMemory : public SharedMemory {
 public:
  explicit VulkanMemory(size_t bytes) : size_(bytes) {
    VkExternalMemoryBufferCreateInfo external{VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO};
    external.handleTypes = kHandle;
    VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, &external};
    info.size = bytes;
    info.usage = kUsage;
    succeed(call_.CreateBuffer(call_.device, &info, nullptr, &buffer_), "CreateBuffer");
    allocate();
    succeed(call_.BindBufferMemory(call_.device, buffer_, memory_, 0), "BindBufferMemory");
    succeed(call_.MapMemory(call_.device, memory_, 0, VK_WHOLE_SIZE, 0, &mapped_), "MapMemory");
  }
  ~VulkanMemory() override {
    call_.DestroyBuffer(call_.device, buffer_, nullptr);
    call_.FreeMemory(call_.device, memory_, nullptr);
  }
  int descriptor() const override {
    VkMemoryGetFdInfoKHR info{VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR};
    info.memory = memory_;
    info.handleType = kHandle;
    int file = -1;
    succeed(call_.GetMemoryFdKHR(call_.device, &info, &file), "GetMemoryFdKHR");
    return file;
  }
  std::span<std::byte> bytes() override { return {static_cast<std::byte*>(mapped_), size_}; }

 private:
  void allocate() {
    VkMemoryRequirements needed;
    call_.GetBufferMemoryRequirements(call_.device, buffer_, &needed);
    VkPhysicalDeviceMemoryProperties kinds;
    call_.GetPhysicalDeviceMemoryProperties(call_.physical, &kinds);
    VkExportMemoryAllocateInfo exported{VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO};
    exported.handleTypes = kHandle;
    VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &exported};
    info.allocationSize = needed.size;
    constexpr VkFlags kMapped = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    for (uint32_t i = 0; i < kinds.memoryTypeCount && memory_ == VK_NULL_HANDLE; ++i) {
      bool usable = (needed.memoryTypeBits >> i & 1) != 0 && (kinds.memoryTypes[i].propertyFlags & kMapped) == kMapped;
      info.memoryTypeIndex = i;
      if (usable) succeed(call_.AllocateMemory(call_.device, &info, nullptr, &memory_), "AllocateMemory");
    }
    expect(memory_ != VK_NULL_HANDLE, "there is no memory that host and device see");
  }

  const Exporter& call_ = exporter();
  const size_t size_;
  VkBuffer buffer_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  void* mapped_ = nullptr;
};

}  // namespace

std::unique_ptr<SharedMemory> make_shared_memory(const std::string& provider, size_t bytes) {
  if (provider != "VulkanExecutionProvider") return std::make_unique<FileInMemory>(bytes);
  if (exporter().device == VK_NULL_HANDLE) return nullptr;
  return std::make_unique<VulkanMemory>(bytes);
}

}  // namespace ortolan::plugin_test
