// A device that is open, with what all of its queues and lists share.
#pragma once

#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "vulkan/codes.h"
#include "vulkan/platform.h"

namespace ortolan::gpu::vulkan {

class Context;

/** A timeline semaphore at 0; `what` says what for. */
VkSemaphore create_timeline(Context& context, const std::string& what);

/** How far a queue is: work that is submitted has a number, one more than the work before, and signals it. Lives as
 * long as its context, and serves one queue after another: a driver may still be in the call that signals when others
 * see it.
 */
class Timeline {
 public:
  explicit Timeline(Context& context);
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  VkSemaphore get() const { return semaphore_; }
  /** The last number that is known to be done. */
  uint64_t completed() const noexcept;
  void wait(uint64_t number) const;
  /** The number of the last work that is recorded, submitted or not. */
  uint64_t last() const { return last_; }
  void set_last(uint64_t number) { last_ = number; }
  bool is_idle() const { return completed() >= last_; }

 private:
  Context& context_;
  VkSemaphore semaphore_ = VK_NULL_HANDLE;
  std::atomic<uint64_t> last_{0};
  mutable std::atomic<uint64_t> completed_{0};
};

/** A driver's queue, which one thread at a time may use. */
struct Lane {
  VkQueue queue = VK_NULL_HANDLE;
  std::mutex mutex;
};

struct KernelLayout {
  VkDescriptorSetLayout set = VK_NULL_HANDLE;
  VkPipelineLayout pipeline = VK_NULL_HANDLE;
};

/** A device and its queues. Held by all that is on the device. Thread-safe. */
class Context {
 public:
  explicit Context(const FoundDevice& found);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const DeviceTraits& traits() const { return found_.traits; }
  const FoundDevice& found() const { return found_; }
  const Features& features() const { return found_.features; }
  const DeviceFunctions& call() const { return call_; }
  VkDevice get() const { return device_; }

  void fail_if_lost() const;
  /** Throws where the result is an error; after kDeviceLost every further use of the device does. `asked` gives the
   * words of error_of. */
  void check(VkResult result, const char* function, auto&& asked) {
    if (result < 0) fail(result, function, asked());
  }

  /** Waits until nothing runs, whatever the driver says of it. */
  void wait_until_idle() noexcept;

  /** For kernels of so many buffers. */
  const KernelLayout& layout_of(uint32_t buffers);
  /** A queue for somebody new. */
  Lane& next_lane();
  /** One that no queue and no mark has. */
  std::shared_ptr<Timeline> timeline();

  /** Keeps the object until all work that is recorded now, in any queue, is done. */
  void retire(std::shared_ptr<void> object);
  /** Lets go of what no work uses any more. */
  void collect();
  /** Waits until nothing runs, and lets go of everything that is retired. */
  void release_retired() noexcept;

 private:
  using Work = std::vector<std::pair<const Timeline*, uint64_t>>;
  struct Retired {
    std::shared_ptr<void> object;
    Work uses;
  };
  [[noreturn]] void fail(VkResult result, const char* function, const std::string& asked);
  void look_up_functions();
  Work open_work() const;
  KernelLayout create_layout(uint32_t buffers);

  FoundDevice found_;
  VkDevice device_ = VK_NULL_HANDLE;
  DeviceFunctions call_;
  std::atomic<bool> lost_{false};
  std::list<Lane> lanes_;
  std::mutex mutex_;
  std::list<Lane>::iterator lane_;
  std::map<uint32_t, KernelLayout> layouts_;
  std::vector<std::shared_ptr<Timeline>> timelines_;
  std::vector<Retired> retired_;
};

}  // namespace ortolan::gpu::vulkan
