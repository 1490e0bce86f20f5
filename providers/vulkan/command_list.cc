// Records launches for the external buffers of a run.
#include "vulkan/command_list.h"

#include <algorithm>

#include "gpu/device/checks.h"

namespace ortolan::gpu::vulkan {
namespace {

constexpr size_t kMostRecordings = 4;  // of a list: callers take turns with a few sets of buffers

const VulkanKernel& kernel_of(const Launch& launch) { return static_cast<const VulkanKernel&>(*launch.kernel); }

void check_bindings(const Launch& launch, const DeviceTraits& traits) {
  for (const Binding& binding : launch.bindings) {
    if (binding.external < 0) check_bound_range("vulkan", binding.range, traits);
  }
}

}  // namespace

void add_barrier(const Context& context, VkCommandBuffer commands) {
  constexpr VkPipelineStageFlags kStages = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
  VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
  barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT |
                          VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_HOST_READ_BIT;
  context.call().CmdPipelineBarrier(commands, kStages, kStages | VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, nullptr,
                                    0, nullptr);
}

CommandPool::CommandPool(Context& context) : context_(context) {
  VkCommandPoolCreateInfo info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  info.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  info.queueFamilyIndex = context.found().queue_family;
  context.check(context.call().CreateCommandPool(context.get(), &info, nullptr, &pool_), "CreateCommandPool",
                [] { return std::string("command buffers"); });
}

CommandPool::~CommandPool() { context_.call().DestroyCommandPool(context_.get(), pool_, nullptr); }

VkCommandBuffer CommandPool::create() {
  VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  info.commandPool = pool_;
  info.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  context_.check(context_.call().AllocateCommandBuffers(context_.get(), &info, &commands), "AllocateCommandBuffers",
                 [] { return std::string("a command buffer"); });
  return commands;
}

void CommandPool::begin(VkCommandBuffer commands, VkCommandBufferUsageFlags usage) {
  VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  info.flags = usage;
  context_.check(context_.call().BeginCommandBuffer(commands, &info), "BeginCommandBuffer",
                 [] { return std::string("a command buffer"); });
}

void CommandPool::end(VkCommandBuffer commands) {
  context_.check(context_.call().EndCommandBuffer(commands), "EndCommandBuffer",
                 [] { return std::string("a command buffer"); });
}

TimestampPool::TimestampPool(std::shared_ptr<Context> context, uint32_t launches)
    : context_(std::move(context)), count_(2 * launches) {
  VkQueryPoolCreateInfo info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
  info.queryType = VK_QUERY_TYPE_TIMESTAMP;
  info.queryCount = std::max(count_, 1u);
  context_->check(context_->call().CreateQueryPool(context_->get(), &info, nullptr, &pool_), "CreateQueryPool",
                  [&] { return std::to_string(count_) + " timestamps"; });
}

TimestampPool::~TimestampPool() { context_->call().DestroyQueryPool(context_->get(), pool_, nullptr); }

std::vector<double> TimestampPool::read() const {
  std::vector<uint64_t> ticks(count_);
  if (count_ == 0) return {};
  constexpr VkQueryResultFlags kFlags = VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT;
  context_->check(context_->call().GetQueryPoolResults(context_->get(), pool_, 0, count_, count_ * sizeof(uint64_t),
                                                       ticks.data(), sizeof(uint64_t), kFlags),
                  "GetQueryPoolResults", [] { return std::string("the times of kernels"); });
  std::vector<double> times;
  for (uint64_t tick : ticks) {
    uint64_t since = (tick - ticks[0]) & context_->found().timestamp_mask;
    times.push_back(static_cast<double>(since) * context_->found().timestamp_period);
  }
  return times;
}

RecordedLaunches::RecordedLaunches(Context& context, std::shared_ptr<Piece> nothing, std::vector<Launch> launches)
    : context_(context), nothing_(std::move(nothing)), launches_(std::move(launches)), commands_(context) {
  for (const Launch& launch : launches_) {
    const VulkanKernel& kernel = kernel_of(launch);
    check_launch("vulkan", kernel.name(), kernel.buffers(), context.traits(), launch);
    check_bindings(launch, context.traits());
    for (const Binding& binding : launch.bindings) {
      externals_ = std::max(externals_, static_cast<size_t>(binding.external + 1));
    }
  }
}

RecordedLaunches::~RecordedLaunches() {
  for (auto& recording : recordings_) {
    context_.call().DestroyDescriptorPool(context_.get(), recording->pool, nullptr);
  }
}

VkCommandBuffer RecordedLaunches::commands_for(std::span<const BufferRange> externals, const Timeline& timeline,
                                               uint64_t number) {
  find_places(externals);
  auto found = std::find_if(recordings_.begin(), recordings_.end(),
                            [&](const auto& each) { return each->is_recorded && each->externals == places_; });
  const bool is_new = found == recordings_.end();
  Recording& recording = is_new ? recording_to_change() : **found;
  if (is_new) record(recording, externals, nullptr);
  recording.timeline = &timeline;
  recording.number = number;
  return recording.commands;
}

VkCommandBuffer RecordedLaunches::timed_commands(std::span<const BufferRange> externals, const TimestampPool& times,
                                                 const Timeline& timeline, uint64_t number) {
  find_places(externals);
  Recording& recording = recording_to_change();
  record(recording, externals, &times);
  recording.is_recorded = false;  // for others
  recording.timeline = &timeline;
  recording.number = number;
  return recording.commands;
}

/** Where the externals lie that the list uses. */
void RecordedLaunches::find_places(std::span<const BufferRange> externals) {
  places_.clear();
  for (size_t i = 0; i < externals_; i++) {
    part_of_external("vulkan", externals, i, {});  // it is given
    places_.push_back(place_of(externals[i]));
  }
}

/** One that no work uses: without commands, or the one that was made longest ago, or a new one. */
RecordedLaunches::Recording& RecordedLaunches::recording_to_change() {
  auto can_change = [&](const auto& each) {
    bool is_free = each->timeline == nullptr || each->timeline->completed() >= each->number;
    return is_free && (!each->is_recorded || recordings_.size() >= kMostRecordings);
  };
  auto found = std::find_if(recordings_.begin(), recordings_.end(), can_change);
  if (found == recordings_.end()) return add_recording();
  std::rotate(found, found + 1, recordings_.end());
  return *recordings_.back();
}

RecordedLaunches::Recording& RecordedLaunches::add_recording() {
  auto recording = std::make_unique<Recording>();
  recording->commands = commands_.create();
  recordings_.push_back(std::move(recording));
  if (!context_.features().push_descriptor) create_sets(*recordings_.back());
  return *recordings_.back();
}

void RecordedLaunches::create_sets(Recording& recording) {
  uint32_t buffers = 0;
  std::vector<VkDescriptorSetLayout> layouts;
  for (const Launch& launch : launches_) {
    buffers += kernel_of(launch).buffers();
    layouts.push_back(kernel_of(launch).layout().set);
  }
  if (buffers == 0) return;
  auto asked = [&] { return std::to_string(count()) + " sets of buffers"; };
  const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, buffers};
  VkDescriptorPoolCreateInfo pool{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  pool.maxSets = count();
  pool.poolSizeCount = 1;
  pool.pPoolSizes = &size;
  context_.check(context_.call().CreateDescriptorPool(context_.get(), &pool, nullptr, &recording.pool),
                 "CreateDescriptorPool", asked);
  recording.sets.resize(count());
  VkDescriptorSetAllocateInfo sets{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  sets.descriptorPool = recording.pool;
  sets.descriptorSetCount = count();
  sets.pSetLayouts = layouts.data();
  context_.check(context_.call().AllocateDescriptorSets(context_.get(), &sets, recording.sets.data()),
                 "AllocateDescriptorSets", asked);
}

void RecordedLaunches::record(Recording& recording, std::span<const BufferRange> externals,
                              const TimestampPool* times) {
  recording.is_recorded = false;
  commands_.begin(recording.commands, times == nullptr ? VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT : 0);
  try {
    record_launches(recording, externals, times);
  } catch (...) {
    context_.call().EndCommandBuffer(recording.commands);  // it may begin anew
    throw;
  }
  commands_.end(recording.commands);
  recording.externals = places_;
  recording.is_recorded = true;
}

void RecordedLaunches::record_launches(Recording& recording, std::span<const BufferRange> externals,
                                       const TimestampPool* times) {
  const DeviceFunctions& call = context_.call();
  VkCommandBuffer commands = recording.commands;
  auto stamp = [&](size_t query) {
    if (times == nullptr) return;
    call.CmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, times->get(), static_cast<uint32_t>(query));
  };
  if (times != nullptr && count() > 0) call.CmdResetQueryPool(commands, times->get(), 0, 2 * count());
  for (size_t i = 0; i < launches_.size(); i++) {
    if (launches_[i].after_barrier || times != nullptr) add_barrier(context_, commands);
    stamp(2 * i);
    record_launch(recording, i, externals);
    stamp(2 * i + 1);
  }
  add_barrier(context_, commands);
}

void RecordedLaunches::record_launch(Recording& recording, size_t at, std::span<const BufferRange> externals) {
  const Launch& launch = launches_[at];
  const VulkanKernel& kernel = kernel_of(launch);
  const DeviceFunctions& call = context_.call();
  call.CmdBindPipeline(recording.commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel.get());
  if (!launch.bindings.empty()) bind(recording, at, externals);
  if (!launch.params.empty()) {
    call.CmdPushConstants(recording.commands, kernel.layout().pipeline, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                          static_cast<uint32_t>(launch.params.size()), launch.params.data());
  }
  call.CmdDispatch(recording.commands, launch.groups[0], launch.groups[1], launch.groups[2]);
}

void RecordedLaunches::bind(Recording& recording, size_t at, std::span<const BufferRange> externals) {
  const Launch& launch = launches_[at];
  const auto buffers = static_cast<uint32_t>(launch.bindings.size());
  VkPipelineLayout layout = kernel_of(launch).layout().pipeline;
  VkDescriptorSet set = recording.sets.empty() ? VK_NULL_HANDLE : recording.sets[at];
  infos_.resize(buffers);
  writes_.assign(buffers, {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET});
  for (uint32_t i = 0; i < buffers; i++) {
    infos_[i] = place_of_binding(launch.bindings[i], externals);
    writes_[i].dstSet = set;
    writes_[i].dstBinding = i;
    writes_[i].descriptorCount = 1;
    writes_[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    writes_[i].pBufferInfo = &infos_[i];
  }
  const DeviceFunctions& call = context_.call();
  if (set == VK_NULL_HANDLE) {
    call.CmdPushDescriptorSetKHR(recording.commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, buffers,
                                 writes_.data());
    return;
  }
  call.UpdateDescriptorSets(context_.get(), buffers, writes_.data(), 0, nullptr);
  call.CmdBindDescriptorSets(recording.commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, nullptr);
}

VkDescriptorBufferInfo RecordedLaunches::place_of_binding(const Binding& binding,
                                                          std::span<const BufferRange> externals) const {
  BufferRange range = binding.range;
  if (binding.external >= 0) {
    range = part_of_external("vulkan", externals, static_cast<size_t>(binding.external), range);
    check_bound_range("vulkan", range, context_.traits());
  }
  if (range.bytes == 0) return {nothing_->slab().buffer, nothing_->offset(), nothing_->bytes()};
  Place place = place_of(range);
  return {place.buffer, place.offset, place.bytes};
}

}  // namespace ortolan::gpu::vulkan
