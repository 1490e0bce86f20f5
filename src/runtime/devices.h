// The memories of a session's providers: allocating in them, copying between them, and the queues of a run.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/execution_provider.h"

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
  /** Tells the queues that were used that the run is over. */
  void end_run();

 private:
  struct Queue {
    std::unique_ptr<Stream> stream;
    bool asked = false;  // the provider was asked for one
    bool used = false;   // in this run
  };
  std::span<const std::unique_ptr<ExecutionProvider>> providers_;
  std::vector<Queue> queues_;
  std::vector<std::shared_ptr<void>> kept_;
  Stream* theirs_ = nullptr;
};

/** Thread-safe. The providers must outlive it. */
class DeviceMemories {
 public:
  explicit DeviceMemories(std::span<const std::unique_ptr<ExecutionProvider>> providers);

  /** The allocator for that place; throws when no provider has one. */
  std::shared_ptr<Allocator> allocator(const MemoryInfo& memory) const;
  /** The same, NULL when no provider has one. */
  std::shared_ptr<Allocator> find_allocator(const MemoryInfo& memory) const;
  /** An uninitialised tensor there, for work in that place's queue. */
  Tensor make(const MemoryInfo& memory, ElementType type, const Shape& shape, RunStreams* streams) const;
  /** Copies elements between any two places, through the CPU's memory if no provider copies directly. When it returns
      the CPU may read and change the CPU's side; a device's side is ready for what is put into its queue next. */
  void copy(const Tensor& from, Tensor& to, RunStreams* streams) const;
  /** A copy in that place. */
  Tensor copied(const Tensor& from, const MemoryInfo& to, RunStreams* streams) const;

 private:
  const DataTransfer* transfer(const MemoryInfo& from, const MemoryInfo& to) const;
  void copy_directly(const DataTransfer& transfer, const Tensor& from, Tensor& to, RunStreams* streams) const;

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
