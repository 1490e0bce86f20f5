// Opens a device, and remembers that it is lost.
#include "vulkan/context.h"

#include <algorithm>

namespace ortolan::gpu::vulkan {
namespace {

constexpr uint32_t kParamBytes = 128;

/** The features that kernels need and those that the device is opened with, as a chain. */
struct WantedFeatures {
  explicit WantedFeatures(const FoundDevice& found) {
    all.features.shaderInt16 = storage16.storageBuffer16BitAccess = VK_TRUE;
    storage8.storageBuffer8BitAccess = small.shaderInt8 = timeline.timelineSemaphore = VK_TRUE;
    all.features.shaderInt64 = found.features.int64;
    small.shaderFloat16 = found.features.half_arithmetic;
    dot.shaderIntegerDotProduct = VK_TRUE;
    all.pNext = &storage16;
    storage16.pNext = &storage8;
    storage8.pNext = &small;
    small.pNext = &timeline;
    if (found.features.int_dot) timeline.pNext = &dot;
    if (!found.features.cooperative_matrix) return;
    matrix.cooperativeMatrix = model.vulkanMemoryModel = VK_TRUE;
    subgroup.subgroupSizeControl = subgroup.computeFullSubgroups = VK_TRUE;
    subgroup.pNext = all.pNext;
    model.pNext = &subgroup;
    matrix.pNext = &model;
    all.pNext = &matrix;
  }

  VkPhysicalDeviceFeatures2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  VkPhysicalDevice16BitStorageFeatures storage16{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES};
  VkPhysicalDevice8BitStorageFeatures storage8{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES};
  VkPhysicalDeviceShaderFloat16Int8Features small{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES};
  VkPhysicalDeviceTimelineSemaphoreFeatures timeline{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES};
  VkPhysicalDeviceShaderIntegerDotProductFeatures dot{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES};
  VkPhysicalDeviceCooperativeMatrixFeaturesKHR matrix{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR,
                                                      nullptr, VK_FALSE, VK_FALSE};
  VkPhysicalDeviceVulkanMemoryModelFeatures model{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES};
  VkPhysicalDeviceSubgroupSizeControlFeatures subgroup{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES};
};

VkDevice open(const FoundDevice& found) {
  const std::vector<float> priorities(found.queues, 0.5f);
  VkDeviceQueueCreateInfo queues{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queues.queueFamilyIndex = found.queue_family;
  queues.queueCount = found.queues;
  queues.pQueuePriorities = priorities.data();
  WantedFeatures wanted(found);
  VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  info.pNext = &wanted.all;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queues;
  info.enabledExtensionCount = static_cast<uint32_t>(found.extensions.size());
  info.ppEnabledExtensionNames = found.extensions.data();
  VkDevice device = VK_NULL_HANDLE;
  check(found.instance->call().CreateDevice(found.device, &info, nullptr, &device), "CreateDevice",
        [&] { return "device '" + found.traits.name + "'"; });
  return device;
}

}  // namespace

VkSemaphore create_timeline(Context& context, const std::string& what) {
  VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO};
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
  info.pNext = &type;
  VkSemaphore semaphore = VK_NULL_HANDLE;
  context.check(context.call().CreateSemaphore(context.get(), &info, nullptr, &semaphore), "CreateSemaphore",
                [&] { return what; });
  return semaphore;
}

Timeline::Timeline(Context& context) : context_(context), semaphore_(create_timeline(context, "a queue's timeline")) {}

Timeline::~Timeline() { context_.call().DestroySemaphore(context_.get(), semaphore_, nullptr); }

uint64_t Timeline::completed() const noexcept {
  uint64_t number = 0;
  VkResult result = context_.call().GetSemaphoreCounterValue(context_.get(), semaphore_, &number);
  if (result == VK_SUCCESS) completed_ = number;
  return completed_;  // who waits learns of failures
}

void Timeline::wait(uint64_t number) const {
  VkSemaphoreWaitInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO};
  info.semaphoreCount = 1;
  info.pSemaphores = &semaphore_;
  info.pValues = &number;
  context_.check(context_.call().WaitSemaphores(context_.get(), &info, UINT64_MAX), "WaitSemaphores",
                 [] { return std::string("queued work"); });
}

Context::Context(const FoundDevice& found) : found_(found), device_(open(found)) {
  look_up_functions();
  for (uint32_t i = 0; i < found.queues; i++) {
    lanes_.emplace_back();
    call_.GetDeviceQueue(device_, found.queue_family, i, &lanes_.back().queue);
  }
  lane_ = lanes_.begin();
}

Context::~Context() {
  wait_until_idle();
  retired_.clear();
  timelines_.clear();
  for (auto& [buffers, layout] : layouts_) {
    call_.DestroyPipelineLayout(device_, layout.pipeline, nullptr);
    call_.DestroyDescriptorSetLayout(device_, layout.set, nullptr);
  }
  call_.DestroyDevice(device_, nullptr);
}

// What came to the core of Vulkan later has its extension's name in older drivers.
void Context::look_up_functions() {
  auto find = [&](const std::string& name) {
    auto found = found_.instance->call().GetDeviceProcAddr(device_, name.c_str());
    return found != nullptr ? found : found_.instance->call().GetDeviceProcAddr(device_, (name + "KHR").c_str());
  };
#define ORTOLAN_LOOK_UP(name) call_.name = reinterpret_cast<PFN_vk##name>(find("vk" #name));
  ORTOLAN_VULKAN_OF_DEVICE(ORTOLAN_LOOK_UP)
  ORTOLAN_VULKAN_OF_EXTENSIONS(ORTOLAN_LOOK_UP)
#undef ORTOLAN_LOOK_UP
}

void Context::fail(VkResult result, const char* function, const std::string& asked) {
  if (result == VK_ERROR_DEVICE_LOST) {
    wait_until_idle();  // a part may still run
    lost_ = true;
  }
  throw error_of(result, function, asked + " on device '" + traits().name + "'");
}

void Context::wait_until_idle() noexcept {
  for (Lane& lane : lanes_) lane.mutex.lock();
  call_.DeviceWaitIdle(device_);
  for (Lane& lane : lanes_) lane.mutex.unlock();
}

void Context::fail_if_lost() const {
  if (!lost_) return;
  throw Error(ErrorKind::kDeviceLost,
              "vulkan: device '" + traits().name +
                  "' was lost in an earlier call; make the sessions on it anew, or choose another");
}

Lane& Context::next_lane() {
  std::lock_guard lock(mutex_);
  Lane& lane = *lane_;
  if (++lane_ == lanes_.end()) lane_ = lanes_.begin();
  return lane;
}

std::shared_ptr<Timeline> Context::timeline() {
  std::lock_guard lock(mutex_);
  for (auto& each : timelines_) {
    if (each.use_count() == 1 && each->is_idle()) return each;
  }
  return timelines_.emplace_back(std::make_shared<Timeline>(*this));
}

const KernelLayout& Context::layout_of(uint32_t buffers) {
  std::lock_guard lock(mutex_);
  auto found = layouts_.find(buffers);
  if (found == layouts_.end()) found = layouts_.emplace(buffers, create_layout(buffers)).first;
  return found->second;
}

KernelLayout Context::create_layout(uint32_t buffers) {
  std::vector<VkDescriptorSetLayoutBinding> bindings(buffers);
  for (uint32_t i = 0; i < buffers; i++) {
    bindings[i] = {i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
  }
  VkDescriptorSetLayoutCreateInfo sets{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  if (features().push_descriptor) sets.flags = VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR;
  sets.bindingCount = buffers;
  sets.pBindings = bindings.data();
  KernelLayout layout;
  auto asked = [&] { return "a layout of " + std::to_string(buffers) + " buffers"; };
  check(call_.CreateDescriptorSetLayout(device_, &sets, nullptr, &layout.set), "CreateDescriptorSetLayout", asked);
  const VkPushConstantRange params{VK_SHADER_STAGE_COMPUTE_BIT, 0, kParamBytes};
  VkPipelineLayoutCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  info.setLayoutCount = 1;
  info.pSetLayouts = &layout.set;
  info.pushConstantRangeCount = 1;
  info.pPushConstantRanges = &params;
  VkResult result = call_.CreatePipelineLayout(device_, &info, nullptr, &layout.pipeline);
  if (result < 0) call_.DestroyDescriptorSetLayout(device_, layout.set, nullptr);
  check(result, "CreatePipelineLayout", asked);
  return layout;
}

Context::Work Context::open_work() const {
  Work work;
  for (const auto& each : timelines_) {
    if (!lost_ && !each->is_idle()) work.emplace_back(each.get(), each->last());
  }
  return work;
}

void Context::retire(std::shared_ptr<void> object) {
  std::lock_guard lock(mutex_);
  Retired retired{object, open_work()};
  if (!retired.uses.empty()) retired_.push_back(std::move(retired));
}

void Context::release_retired() noexcept {
  wait_until_idle();
  std::vector<Retired> done;  // whose objects end without the lock
  std::lock_guard lock(mutex_);
  done.swap(retired_);
}

void Context::collect() {
  std::vector<Retired> done;  // whose objects end without the lock
  std::lock_guard lock(mutex_);
  auto is_done = [&](const Retired& retired) {
    return lost_ || std::all_of(retired.uses.begin(), retired.uses.end(),
                                [](const auto& use) { return use.first->completed() >= use.second; });
  };
  auto first = std::partition(retired_.begin(), retired_.end(), [&](const auto& each) { return !is_done(each); });
  done.assign(std::make_move_iterator(first), std::make_move_iterator(retired_.end()));
  retired_.erase(first, retired_.end());
}

}  // namespace ortolan::gpu::vulkan
