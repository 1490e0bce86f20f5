// Recorded launches: command buffers that are made once for the external buffers of a run, and submitted again.
#pragma once

#include "vulkan/kernel.h"
#include "vulkan/memory.h"

namespace ortolan::gpu::vulkan {

/** Work that wrote is done, and seen by all that follows and by the host. */
void add_barrier(const Context& context, VkCommandBuffer commands);

/** Command buffers of one thread at a time. */
class CommandPool {
 public:
  explicit CommandPool(Context& context);
  ~CommandPool();
  CommandPool(const CommandPool&) = delete;
  CommandPool& operator=(const CommandPool&) = delete;
  VkCommandBuffer create();
  /** Begins anew a command buffer that no work uses. */
  void begin(VkCommandBuffer commands, VkCommandBufferUsageFlags usage);
  void end(VkCommandBuffer commands);

 private:
  Context& context_;
  VkCommandPool pool_ = VK_NULL_HANDLE;
};

/** Two timestamps for each launch of a list. */
class TimestampPool {
 public:
  TimestampPool(std::shared_ptr<Context> context, uint32_t launches);
  ~TimestampPool();
  TimestampPool(const TimestampPool&) = delete;
  TimestampPool& operator=(const TimestampPool&) = delete;
  VkQueryPool get() const { return pool_; }
  /** In nanoseconds of the device's clock, once they are written. */
  std::vector<double> read() const;

 private:
  std::shared_ptr<Context> context_;
  uint32_t count_;
  VkQueryPool pool_ = VK_NULL_HANDLE;
};

/** What a list's work uses, kept until that is done. */
class RecordedLaunches {
 public:
  RecordedLaunches(Context& context, std::shared_ptr<Piece> nothing, std::vector<Launch> launches);
  ~RecordedLaunches();
  RecordedLaunches(const RecordedLaunches&) = delete;
  RecordedLaunches& operator=(const RecordedLaunches&) = delete;

  uint32_t count() const { return static_cast<uint32_t>(launches_.size()); }
  /** The commands for these externals. Made now where they differ from those of the last runs; `number` of the timeline
   * is the work that they are for. */
  VkCommandBuffer commands_for(std::span<const BufferRange> externals, const Timeline& timeline, uint64_t number);
  /** Commands for one run, with timestamps. */
  VkCommandBuffer timed_commands(std::span<const BufferRange> externals, const TimestampPool& times,
                                 const Timeline& timeline, uint64_t number);

 private:
  /** Commands, and what they are for. */
  struct Recording {
    VkCommandBuffer commands = VK_NULL_HANDLE;
    std::vector<Place> externals;  // empty: it has no commands
    bool is_recorded = false;
    VkDescriptorPool pool = VK_NULL_HANDLE;
    std::vector<VkDescriptorSet> sets;
    const Timeline* timeline = nullptr;  // of the last run
    uint64_t number = 0;
  };

  void find_places(std::span<const BufferRange> externals);
  Recording& recording_to_change();
  Recording& add_recording();
  void create_sets(Recording& recording);
  void record(Recording& recording, std::span<const BufferRange> externals, const TimestampPool* times);
  void record_launches(Recording& recording, std::span<const BufferRange> externals, const TimestampPool* times);
  void record_launch(Recording& recording, size_t at, std::span<const BufferRange> externals);
  void bind(Recording& recording, size_t at, std::span<const BufferRange> externals);
  VkDescriptorBufferInfo place_of_binding(const Binding& binding, std::span<const BufferRange> externals) const;

  Context& context_;
  std::shared_ptr<Piece> nothing_;  // what a range without bytes is bound to
  std::vector<Launch> launches_;
  size_t externals_ = 0;
  CommandPool commands_;
  std::vector<std::unique_ptr<Recording>> recordings_;
  std::vector<Place> places_;  // of the externals of this run
  std::vector<VkDescriptorBufferInfo> infos_;
  std::vector<VkWriteDescriptorSet> writes_;
};

class VulkanCommandList : public CommandList {
 public:
  /** Throws kInternal where a launch does not fit its kernel: number of buffers, their offsets, the parameters, groups.
   */
  VulkanCommandList(std::shared_ptr<Context> context, std::shared_ptr<Piece> nothing, std::vector<Launch> launches)
      : context_(std::move(context)),
        launches_(std::make_shared<RecordedLaunches>(*context_, std::move(nothing), std::move(launches))) {}
  ~VulkanCommandList() override { context_->retire(std::move(launches_)); }
  RecordedLaunches& launches() { return *launches_; }

 private:
  std::shared_ptr<Context> context_;
  std::shared_ptr<RecordedLaunches> launches_;
};

}  // namespace ortolan::gpu::vulkan
