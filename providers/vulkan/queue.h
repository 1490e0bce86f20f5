// Queues and marks in them.
#pragma once

#include <chrono>

#include "vulkan/command_list.h"
#include "vulkan/semaphore.h"

namespace ortolan::gpu::vulkan {

/** A queue's timeline, and the bytes that go to the host when it is at some number. Thread-safe. */
class Progress {
 public:
  explicit Progress(std::shared_ptr<Context> context) : context_(std::move(context)), timeline_(context_->timeline()) {}

  Context& context() const { return *context_; }
  const std::shared_ptr<Timeline>& timeline() const { return timeline_; }
  void land_later(uint64_t number, void* to, std::shared_ptr<Piece> from, size_t bytes);
  /** Waits for the work with this number and before, and moves its bytes to the host. Where it throws, no bytes go to
   * the host any more: who was to have them has been told. */
  void wait(uint64_t number);
  void forget_landings();

 private:
  struct Landing {
    uint64_t number;
    void* to;
    std::shared_ptr<Piece> from;
    size_t bytes;
  };

  std::shared_ptr<Context> context_;
  std::shared_ptr<Timeline> timeline_;
  std::mutex mutex_;
  std::vector<Landing> landings_;
};

class VulkanMark : public Mark {
 public:
  VulkanMark(std::shared_ptr<Progress> progress, uint64_t number) : progress_(std::move(progress)), number_(number) {}
  void wait() override {
    progress_->context().fail_if_lost();
    progress_->wait(number_);
  }
  const std::shared_ptr<Timeline>& timeline() const { return progress_->timeline(); }
  uint64_t number() const { return number_; }

 private:
  std::shared_ptr<Progress> progress_;
  uint64_t number_;
};

class VulkanTimes : public LaunchTimes {
 public:
  VulkanTimes(std::shared_ptr<Context> context, uint32_t launches) : pool_(std::move(context), launches) {}
  const TimestampPool& pool() const { return pool_; }
  /** The device's clock is set by the host's when the work is submitted. */
  void set_start() { started_ = std::chrono::steady_clock::now().time_since_epoch().count(); }
  std::vector<LaunchTime> read() override;

 private:
  TimestampPool pool_;
  int64_t started_ = 0;
};

class VulkanQueue : public Queue {
 public:
  VulkanQueue(std::shared_ptr<Context> context, MemoryPool& staging, bool timed);
  ~VulkanQueue() override;

  void write(const BufferRange& to, const void* from) override;
  void make(const BufferRange& to, const std::function<void(std::span<std::byte>)>& make) override;
  void read(void* to, const BufferRange& from) override;
  void copy(const BufferRange& to, const BufferRange& from) override;
  void run(CommandList& list, std::span<const BufferRange> externals) override;
  std::shared_ptr<LaunchTimes> run_timed(CommandList& list, std::span<const BufferRange> externals) override;
  std::shared_ptr<Mark> mark() override;
  void wait_for(const Mark& mark) override;
  void wait_for(const std::shared_ptr<Semaphore>& semaphore, uint64_t value) override;
  void raise(const std::shared_ptr<Semaphore>& semaphore, uint64_t value) override;
  void flush() override;
  void finish() override;

 private:
  /** Commands that are recorded here, and the work that last used them. */
  struct Copies {
    VkCommandBuffer commands;
    uint64_t number;
  };
  /** A semaphore with what it belongs to, which must live until it is reached, and the number to reach. */
  struct Point {
    std::shared_ptr<void> owner;
    VkSemaphore semaphore;
    uint64_t number;
  };
  /** Points as the driver takes them. */
  struct Points {
    std::vector<VkSemaphore> semaphores;
    std::vector<uint64_t> numbers;
    void add(VkSemaphore semaphore, uint64_t number) {
      semaphores.push_back(semaphore);
      numbers.push_back(number);
    }
    void set(const std::vector<Point>& points) {
      semaphores.clear();
      numbers.clear();
      for (const Point& point : points) add(point.semaphore, point.number);
    }
    uint32_t count() const { return static_cast<uint32_t>(numbers.size()); }
  };

  uint64_t next() const { return submitted_ + 1; }
  bool is_idle() const {
    return waits_.empty() && raises_.empty() && pending_.empty() && !is_open_ && progress_->timeline()->is_idle();
  }
  void use() { progress_->timeline()->set_last(next()); }
  VkCommandBuffer open();
  void close();
  void add(VkCommandBuffer commands);
  void add_copy(VkBuffer to, VkDeviceSize to_offset, VkBuffer from, VkDeviceSize from_offset, VkDeviceSize bytes);
  std::shared_ptr<Piece> stage(size_t bytes);
  void write_part(const Place& to, const std::byte* from);
  void submit();
  void submit(Lane& lane);
  void read_part(std::byte* to, const Place& from);
  void wait_for_all();

  std::shared_ptr<Context> context_;
  std::shared_ptr<MemoryPool> staging_;
  const bool timed_;
  Lane& lane_;
  std::shared_ptr<Progress> progress_;
  std::mutex mutex_;
  CommandPool commands_;
  std::vector<Copies> copies_;
  VkCommandBuffer open_ = VK_NULL_HANDLE;  // being recorded
  bool is_open_ = false;
  uint64_t submitted_;  // the number of the last work that the driver has
  size_t staged_ = 0;   // bytes of copies that are not submitted
  std::vector<VkCommandBuffer> pending_;
  std::vector<Point> waits_, raises_;  // of the next work
  // What the points of the last work belong to. Mesa's lavapipe (22.3) still looks at a semaphore that work has waited
  // for when others see that work done; it has let go of it when the next work is done, or the device is idle.
  std::vector<std::shared_ptr<void>> reached_;
  Points wait_points_, raise_points_;
  std::vector<VkPipelineStageFlags> wait_stages_;
};

}  // namespace ortolan::gpu::vulkan
