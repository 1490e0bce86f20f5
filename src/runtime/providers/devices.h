// The memories of a session's providers: allocating in them, copying between them, and the queues of a run.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/providers/execution_provider.h"

namespace ortolan::runtime {

/** The queues of one run, one for each provider that has them, made at the first need. Used by one run at a time. */
class RunStreams {
 public:
  explicit RunStreams(std::span<const std::unique_ptr<ExecutionProvider>> providers);
  /** The queue of provider i; NULL when it has none. */
  Stream* of(size_t provider);
  /** The queue that works on that memory's device; NULL when there is none. */
  Stream* on(const MemoryInfo& memory);
  /** Uses the caller's queue in place of the own one of its device until the run ends. */
  void use(Stream* theirs) { theirs_ = theirs; }
  /** Keeps memory that work in the queues may use until the run is over. */
  void keep(std::shared_ptr<void> memory) { kept_.push_back(std::move(memory)); }
  /** Work in `queue` uses these bytes of the CPU's memory, which has this owner (NULL: somebody else keeps it), until
      the queue is settled. */
  void hold(Stream& queue, std::shared_ptr<void> memory, size_t bytes);
  /** Lets the host wait for all work of the queue, or of all queues, that holds memory of the CPU's. */
  void settle(Stream& queue);
  void settle();
  /** Settles the queues and tells those that were used that the run is over. Throws the first error, all being done. */
  void end_run();

 private:
  struct Queue {
    std::unique_ptr<Stream> stream;
    bool asked = false;  // the provider was asked for one
    bool used = false;   // in this run
  };
  struct Held {
    Stream* queue;
    std::shared_ptr<void> memory;
    size_t bytes;
  };
  void forget(const Stream& queue);

  std::span<const std::unique_ptr<ExecutionProvider>> providers_;
  std::vector<Queue> queues_;
  std::vector<std::shared_ptr<void>> kept_;
  std::vector<Held> held_;  // what the queues have not been settled since
  size_t held_bytes_ = 0;
  Stream* theirs_ = nullptr;
};

/** Thread-safe. The providers must outlive it. */
class DeviceMemories {
 public:
  explicit DeviceMemories(std::span<const std::unique_ptr<ExecutionProvider>> providers);

  /** The allocator for values in that place; throws when no provider has one. */
  std::shared_ptr<Allocator> allocator(const MemoryInfo& memory) const;
  /** The allocator of that memory, which may be one for constants; NULL when no provider has it. */
  std::shared_ptr<Allocator> find_allocator(const MemoryInfo& memory) const;
  /** An uninitialised tensor there, for work in that place's queue. */
  Tensor make(const MemoryInfo& memory, ElementType type, const Shape& shape, RunStreams* streams) const;
  /** Copies elements between any two places, through the CPU's memory if no provider copies directly. When it returns
      the CPU may read and change the CPU's side; a device's side is ready for what is put into its queue next. */
  void copy(const Tensor& from, Tensor& to, RunStreams* streams) const;
  /** The same without waiting: the CPU's side is not to be read or changed until the streams are settled, which they
      are at the end of the run. Its owner is kept as long; memory without one must be there by itself. */
  void start_copy(const Tensor& from, Tensor& to, RunStreams* streams) const;
  /** A copy in that place. */
  Tensor copied(const Tensor& from, const MemoryInfo& to, RunStreams* streams) const;
  /** A copy of a constant there, in the provider's memory for constants where it has such. */
  Tensor copied_constant(const Tensor& from, const MemoryInfo& to) const;

 private:
  const DataTransfer* transfer(const MemoryInfo& from, const MemoryInfo& to) const;
  std::shared_ptr<Allocator> find_allocator(const MemoryInfo& memory, bool read_only) const;
  void start_directly(const DataTransfer& transfer, const Tensor& from, Tensor& to, RunStreams* streams) const;

  std::vector<const DataTransfer*> transfers_;
  std::vector<std::shared_ptr<Allocator>> allocators_;
};

/** A deep copy in the tensor's own place: on the CPU, or by `services.devices`. */
Tensor duplicate(const Tensor& tensor, const RunServices& services);

/** What a session with other providers than the CPU has for its runs. Thread-safe. */
class SessionDevices {
 public:
  explicit SessionDevices(std::span<const std::unique_ptr<ExecutionProvider>> providers);

  const DeviceMemories& memories() const { return memories_; }
  std::span<const std::unique_ptr<ExecutionProvider>> providers() const { return providers_; }
  std::unique_ptr<RunStreams> take_streams();
  void give_back(std::unique_ptr<RunStreams> streams);
  /** Held during a run when a provider takes one run at a time. */
  std::unique_lock<std::mutex> one_at_a_time();

 private:
  std::span<const std::unique_ptr<ExecutionProvider>> providers_;
  DeviceMemories memories_;
  bool concurrent_;
  std::mutex runs_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<RunStreams>> free_;
};

/** One run: tells the providers when it begins and ends and lends it their queues. */
class DeviceRun {
 public:
  DeviceRun(SessionDevices& devices, const RunOptions& options, RunServices& services);
  ~DeviceRun();
  /** Ends the run; throws what a provider reports. */
  void finish();

 private:
  void end_providers();

  SessionDevices& devices_;
  const RunOptions& options_;
  std::unique_lock<std::mutex> alone_;
  std::unique_ptr<RunStreams> streams_;
  size_t started_ = 0;  // providers that know of the run
};

}  // namespace ortolan::runtime
