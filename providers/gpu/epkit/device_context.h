// A device that is open: its memory, what its sessions share, and its queues.
#pragma once

#include <atomic>
#include <set>
#include <tuple>

#include "gpu/core/group.h"
#include "gpu/epkit/device_memory.h"
#include "gpu/epkit/profiler.h"
#include "gpu/epkit/tensor.h"

namespace ortolan::gpu::epkit {

class DeviceContext;

/** A queue with its working memory. The runtime's handle of a stream is one of these. Used by one thread at a time. */
class RunQueue {
 public:
  /** `records` learns when the device did what; NULL: nobody does. `theirs`: the driver's queue that it is to use;
   * NULL: one of its own. */
  explicit RunQueue(DeviceContext& context, ProfileRecords* records = nullptr, void* theirs = nullptr);
  ~RunQueue();
  RunQueue(const RunQueue&) = delete;
  RunQueue& operator=(const RunQueue&) = delete;

  DeviceContext& context() { return context_; }
  WorkingMemory& working() { return working_; }
  /** The queue, which has work from now on. */
  Queue& busy();
  /** Waits for all work. Throws what went wrong in it, also what kernels met, such as an index outside of its axis. */
  void finish();
  /** The same from any thread, which does not own the queue. */
  void wait() { queue_->finish(); }
  void flush();
  std::shared_ptr<Mark> mark();

 private:
  void take_times_if_wanted();
  std::unique_ptr<Queue> make_queue(bool timed) const;

  DeviceContext& context_;
  ProfileRecords* const records_;
  void* const theirs_;
  std::unique_ptr<Queue> queue_;
  WorkingMemory working_;
  bool busy_ = false;
};

/** Thread-safe. */
class DeviceContext {
 public:
  explicit DeviceContext(std::unique_ptr<Device> device);
  ~DeviceContext();
  DeviceContext(const DeviceContext&) = delete;
  DeviceContext& operator=(const DeviceContext&) = delete;

  Device& device() { return *device_; }
  /** What sessions share that keep kernels in the same folder (empty: nowhere), are tuned alike and compute alike. */
  Engine& engine(const std::filesystem::path& folder, Tuning tuning, Products products, Precision precision);
  DeviceMemory& memory() { return memory_; }
  /** The queue behind a native handle; NULL where it is none of this device's. */
  RunQueue* find_queue(void* handle);
  /** Waits for the work of all queues. */
  void finish();

 private:
  friend class RunQueue;
  std::unique_ptr<Device> device_;
  std::map<std::tuple<std::filesystem::path, Tuning, Products, Precision>, std::unique_ptr<Engine>> engines_;
  DeviceMemory memory_;
  std::mutex mutex_;
  std::set<RunQueue*> queues_;
};

/** The queue of a runtime's handle; where it gives none, one of its own, whose work close() waits for. */
class ScopedQueue {
 public:
  ScopedQueue(DeviceContext& context, void* handle, ProfileRecords* records = nullptr);
  RunQueue* operator->() { return queue_; }
  RunQueue& operator*() { return *queue_; }
  /** Waits for the work of an own queue. */
  void close();

 private:
  std::unique_ptr<RunQueue> own_;
  RunQueue* queue_;
};

/** Copies between the host and the device, or on the device. When it returns, the host may use its side. */
void copy_tensor(RunQueue& queue, const Tensor& from, const Tensor& to);

}  // namespace ortolan::gpu::epkit
