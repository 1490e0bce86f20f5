// What all sessions of a process share: the logger, the global thread pools, shared allocators.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "base/log.h"
#include "base/thread_pool.h"
#include "tensor/allocator.h"

namespace ortolan::runtime {
using namespace base;
using namespace tensor;

/** How the global pools are made. */
struct ThreadingOptions {
  ThreadPool::Options intra;
  ThreadPool::Options inter;
};

/** Thread-safe. Sessions hold a shared pointer, so it outlives them all. */
class Environment : public std::enable_shared_from_this<Environment> {
 public:
  explicit Environment(Logger logger) : logger_(std::move(logger)) {}

  const Logger& logger() const { return logger_; }
  void set_severity(Severity least);
  /** Makes the pools that sessions with use_global_threads share. */
  void create_global_pools(const ThreadingOptions& options);
  /** NULL when there are none. */
  const std::shared_ptr<ThreadPool>& intra_pool() const { return intra_pool_; }
  const std::shared_ptr<ThreadPool>& inter_pool() const { return inter_pool_; }

  /** Allocators that sessions may use in place of their own; one for each memory info. */
  void register_allocator(std::shared_ptr<Allocator> allocator);
  bool unregister_allocator(const MemoryInfo& memory);
  /** The first one registered for that device; NULL if none. */
  std::shared_ptr<Allocator> shared_allocator(const Device& device) const;

 private:
  Logger logger_;
  std::shared_ptr<ThreadPool> intra_pool_;
  std::shared_ptr<ThreadPool> inter_pool_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Allocator>> allocators_;
};

}  // namespace ortolan::runtime
