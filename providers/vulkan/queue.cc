// Submits work, and moves bytes between host and device.
#include "vulkan/queue.h"

#include <algorithm>
#include <cstring>

#include "gpu/device/checks.h"

namespace ortolan::gpu::vulkan {
namespace {

constexpr size_t kPartBytes = size_t{16} << 20;    // of a copy by way of staging memory
constexpr size_t kStagedBytes = size_t{64} << 20;  // staging memory that waits for one submission at most
constexpr size_t kMostPending = 16;                // command buffers of a submission

}  // namespace

void Progress::land_later(uint64_t number, void* to, std::shared_ptr<Piece> from, size_t bytes) {
  std::lock_guard lock(mutex_);
  landings_.push_back({number, to, std::move(from), bytes});
}

void Progress::forget_landings() {
  std::lock_guard lock(mutex_);
  landings_.clear();
}

void Progress::wait(uint64_t number) {
  try {
    timeline_->wait(number);
  } catch (...) {
    forget_landings();
    throw;
  }
  std::lock_guard lock(mutex_);
  auto first = std::partition(landings_.begin(), landings_.end(), [&](auto& each) { return each.number > number; });
  for (auto landing = first; landing != landings_.end(); ++landing) {
    std::memcpy(landing->to, landing->from->mapped(), landing->bytes);
  }
  landings_.erase(first, landings_.end());
}

std::vector<LaunchTime> VulkanTimes::read() {
  const std::vector<double> times = pool_.read();
  std::vector<LaunchTime> launches;
  for (size_t i = 0; i + 1 < times.size(); i += 2) {
    launches.push_back({started_ + static_cast<int64_t>(times[i]), started_ + static_cast<int64_t>(times[i + 1])});
  }
  return launches;
}

VulkanQueue::VulkanQueue(std::shared_ptr<Context> context, MemoryPool& staging, bool timed)
    : context_(std::move(context)),
      staging_(staging.shared_from_this()),
      timed_(timed && context_->found().timestamp_mask != 0),
      lane_(context_->next_lane()),
      progress_(std::make_shared<Progress>(context_)),
      commands_(*context_),
      submitted_(progress_->timeline()->last()) {}

VulkanQueue::~VulkanQueue() {
  try {
    finish();
  } catch (const Error&) {
    context_->wait_until_idle();
  }
  if (!reached_.empty()) context_->wait_until_idle();
  progress_->timeline()->set_last(submitted_);
  context_->collect();
}

/** The command buffer for copies that is open, or one that no work uses. */
VkCommandBuffer VulkanQueue::open() {
  use();
  if (is_open_) return open_;
  const uint64_t completed = progress_->timeline()->completed();
  auto free = std::find_if(copies_.begin(), copies_.end(), [&](auto& each) { return each.number <= completed; });
  if (free == copies_.end()) free = copies_.insert(free, {commands_.create(), 0});
  open_ = free->commands;
  free->number = next();
  commands_.begin(open_, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
  is_open_ = true;
  return open_;
}

void VulkanQueue::close() {
  if (!is_open_) return;
  is_open_ = false;
  commands_.end(open_);
  pending_.push_back(open_);
  staged_ = 0;
}

void VulkanQueue::add(VkCommandBuffer commands) {
  close();
  use();
  pending_.push_back(commands);
  if (pending_.size() >= kMostPending) submit();
}

void VulkanQueue::add_copy(VkBuffer to, VkDeviceSize to_offset, VkBuffer from, VkDeviceSize from_offset,
                           VkDeviceSize bytes) {
  const VkBufferCopy region{from_offset, to_offset, bytes};
  VkCommandBuffer commands = open();
  context_->call().CmdCopyBuffer(commands, from, to, 1, &region);
  add_barrier(*context_, commands);
}

/** Memory that the host and the next work use. */
std::shared_ptr<Piece> VulkanQueue::stage(size_t bytes) {
  if (staged_ + bytes > kStagedBytes) wait_for_all();
  staged_ += bytes;
  return staging_->allocate(bytes);
}

void VulkanQueue::write_part(const Place& to, const std::byte* from) {
  std::shared_ptr<Piece> piece = stage(to.bytes);
  std::memcpy(piece->mapped(), from, to.bytes);
  add_copy(to.buffer, to.offset, piece->slab().buffer, piece->offset(), to.bytes);
  context_->retire(std::move(piece));
}

void VulkanQueue::write(const BufferRange& to, const void* from) {
  context_->fail_if_lost();
  const Place place = place_of(to);
  if (to.bytes == 0) return;
  std::lock_guard lock(mutex_);
  if (place.mapped != nullptr && is_idle()) {
    std::memcpy(place.mapped, from, to.bytes);
    return;
  }
  for (size_t at = 0; at < to.bytes; at += kPartBytes) {
    const VkDeviceSize bytes = std::min<VkDeviceSize>(kPartBytes, to.bytes - at);
    write_part({place.slab, place.buffer, place.offset + at, bytes, nullptr}, static_cast<const std::byte*>(from) + at);
  }
}

void VulkanQueue::make(const BufferRange& to, const std::function<void(std::span<std::byte>)>& make) {
  const Place place = place_of(to);
  if (place.mapped == nullptr) return Queue::make(to, make);
  finish();
  make({place.mapped, to.bytes});
}

void VulkanQueue::read(void* to, const BufferRange& from) {
  context_->fail_if_lost();
  const Place place = place_of(from);
  if (from.bytes == 0) return;
  std::lock_guard lock(mutex_);
  if (place.mapped != nullptr) {
    wait_for_all();
    std::memcpy(to, place.mapped, from.bytes);
    return;
  }
  try {
    for (size_t at = 0; at < from.bytes; at += kPartBytes) {
      const VkDeviceSize bytes = std::min<VkDeviceSize>(kPartBytes, from.bytes - at);
      read_part(static_cast<std::byte*>(to) + at, {place.slab, place.buffer, place.offset + at, bytes, nullptr});
    }
  } catch (...) {
    progress_->forget_landings();
    throw;
  }
}

void VulkanQueue::read_part(std::byte* to, const Place& from) {
  std::shared_ptr<Piece> piece = stage(from.bytes);
  add_copy(piece->slab().buffer, piece->offset(), from.buffer, from.offset, from.bytes);
  progress_->land_later(next(), to, std::move(piece), from.bytes);
}

void VulkanQueue::copy(const BufferRange& to, const BufferRange& from) {
  context_->fail_if_lost();
  const Place source = place_of(from), target = place_of({to.buffer, to.offset, from.bytes});
  if (from.bytes == 0) return;
  std::lock_guard lock(mutex_);
  add_copy(target.buffer, target.offset, source.buffer, source.offset, from.bytes);
}

void VulkanQueue::run(CommandList& list, std::span<const BufferRange> externals) {
  context_->fail_if_lost();
  std::lock_guard lock(mutex_);
  RecordedLaunches& launches = static_cast<VulkanCommandList&>(list).launches();
  if (launches.count() == 0) return;
  add(launches.commands_for(externals, *progress_->timeline(), next()));
}

std::shared_ptr<LaunchTimes> VulkanQueue::run_timed(CommandList& list, std::span<const BufferRange> externals) {
  if (!timed_) {
    run(list, externals);
    return nullptr;
  }
  context_->fail_if_lost();
  std::lock_guard lock(mutex_);
  submit();
  RecordedLaunches& launches = static_cast<VulkanCommandList&>(list).launches();
  auto times = std::make_shared<VulkanTimes>(context_, launches.count());
  add(launches.timed_commands(externals, times->pool(), *progress_->timeline(), next()));
  context_->retire(times);
  times->set_start();
  submit();
  return times;
}

std::shared_ptr<Mark> VulkanQueue::mark() {
  context_->fail_if_lost();
  std::lock_guard lock(mutex_);
  submit();
  return std::make_shared<VulkanMark>(progress_, submitted_);
}

void VulkanQueue::wait_for(const Mark& mark) {
  context_->fail_if_lost();
  const auto& other = static_cast<const VulkanMark&>(mark);
  std::lock_guard lock(mutex_);
  if (other.timeline() == progress_->timeline() || other.timeline()->completed() >= other.number()) return;
  submit();
  waits_.push_back({other.timeline(), other.timeline()->get(), other.number()});
  use();
}

void VulkanQueue::wait_for(const std::shared_ptr<Semaphore>& semaphore, uint64_t value) {
  context_->fail_if_lost();
  std::lock_guard lock(mutex_);
  submit();
  waits_.push_back({semaphore, static_cast<const VulkanSemaphore&>(*semaphore).get(), value});
  use();
}

void VulkanQueue::raise(const std::shared_ptr<Semaphore>& semaphore, uint64_t value) {
  context_->fail_if_lost();
  std::lock_guard lock(mutex_);
  raises_.push_back({semaphore, static_cast<const VulkanSemaphore&>(*semaphore).get(), value});
  use();
  submit();
}

void VulkanQueue::flush() {
  context_->fail_if_lost();
  std::lock_guard lock(mutex_);
  submit();
}

void VulkanQueue::finish() {
  context_->fail_if_lost();
  std::lock_guard lock(mutex_);
  wait_for_all();
}

void VulkanQueue::wait_for_all() {
  submit();
  progress_->wait(submitted_);
}

void VulkanQueue::submit() {
  close();
  if (pending_.empty() && waits_.empty() && raises_.empty()) return;
  submit(lane_);
  submitted_++;
  pending_.clear();
  for (std::shared_ptr<void>& owner : reached_) context_->retire(std::move(owner));
  reached_.clear();
  for (std::vector<Point>* points : {&waits_, &raises_}) {
    for (Point& point : *points) reached_.push_back(std::move(point.owner));
    points->clear();
  }
}

void VulkanQueue::submit(Lane& lane) {
  wait_points_.set(waits_);
  raise_points_.set(raises_);
  raise_points_.add(progress_->timeline()->get(), next());
  wait_stages_.assign(waits_.size(), VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
  VkTimelineSemaphoreSubmitInfo numbers{VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO};
  numbers.waitSemaphoreValueCount = wait_points_.count();
  numbers.pWaitSemaphoreValues = wait_points_.numbers.data();
  numbers.signalSemaphoreValueCount = raise_points_.count();
  numbers.pSignalSemaphoreValues = raise_points_.numbers.data();
  VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  info.pNext = &numbers;
  info.waitSemaphoreCount = numbers.waitSemaphoreValueCount;
  info.pWaitSemaphores = wait_points_.semaphores.data();
  info.pWaitDstStageMask = wait_stages_.data();
  info.commandBufferCount = static_cast<uint32_t>(pending_.size());
  info.pCommandBuffers = pending_.data();
  info.signalSemaphoreCount = raise_points_.count();
  info.pSignalSemaphores = raise_points_.semaphores.data();
  std::unique_lock lock(lane.mutex);
  VkResult result = context_->call().QueueSubmit(lane.queue, 1, &info, VK_NULL_HANDLE);
  lock.unlock();
  if (result < 0) progress_->forget_landings();
  context_->check(result, "QueueSubmit", [] { return std::string("queued work"); });
}

}  // namespace ortolan::gpu::vulkan
