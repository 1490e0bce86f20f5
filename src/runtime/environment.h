// What all sessions of a process share: the logger, the global thread pools, shared allocators, providers.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "base/function_ref.h"
#include "base/key_values.h"
#include "base/log.h"
#include "base/threads/thread_pool.h"
#include "base/threads/work_callbacks.h"
#include "runtime/providers/provider_factory.h"
#include "tensor/allocator.h"

namespace ortolan::runtime {
using namespace base;
using namespace tensor;

/** How the global pools are made. */
struct ThreadingOptions {
  ThreadPool::Options intra;
  ThreadPool::Options inter;
  bool denormals_are_zero = false;  // in the runs of all sessions that use the pools
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
  /** What runs on the global pools takes denormals for zero. */
  bool denormals_are_zero() const { return denormals_are_zero_; }

  /** What the pools of later sessions call, apart from the global ones. */
  void set_work_callbacks(const WorkCallbacks& callbacks);
  WorkCallbacks work_callbacks() const;

  /** Allocators that sessions may use in place of their own; one for each memory info. */
  void register_allocator(std::shared_ptr<Allocator> allocator);
  bool unregister_allocator(const MemoryInfo& memory);
  /** The first one registered for that device; NULL if none. */
  std::shared_ptr<Allocator> shared_allocator(const Device& device) const;

  /** Settings that providers may ask for. */
  void set_config(KeyValues config);
  KeyValues config() const;

  /** Providers of every session whose options name none and do not choose; in priority order. */
  void add_provider(ProviderRequest request);
  void clear_providers();
  std::vector<ProviderRequest> providers() const;

  /** What knows the libraries of providers. */
  class Plugins {
   public:
    virtual ~Plugins() = default;
  };
  /** The one that `make` made at the first call. */
  Plugins& plugins(FunctionRef<std::unique_ptr<Plugins>()> make);

 private:
  Logger logger_;
  std::shared_ptr<ThreadPool> intra_pool_;
  std::shared_ptr<ThreadPool> inter_pool_;
  bool denormals_are_zero_ = false;
  mutable std::mutex mutex_;
  WorkCallbacks work_callbacks_;
  std::vector<std::shared_ptr<Allocator>> allocators_;
  KeyValues config_;
  std::vector<ProviderRequest> providers_;
  std::unique_ptr<Plugins> plugins_;
};

}  // namespace ortolan::runtime
