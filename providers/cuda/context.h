// What everything on one GPU shares.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "cuda/platform.h"

namespace ortolan::gpu::cuda {

/** A device with its primary context, which the process shares with all who use CUDA. Held by all that is on the
 * device. Thread-safe. */
class Context {
 public:
  explicit Context(const FoundDevice& found);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Driver& driver() const { return driver_; }
  const DeviceTraits& traits() const { return traits_; }
  CUdevice device() const { return device_; }
  int capability() const { return capability_; }

  /** While it lives, the context is the calling thread's. */
  class Entered {
   public:
    explicit Entered(const Context& context);
    ~Entered();
    Entered(const Entered&) = delete;
    Entered& operator=(const Entered&) = delete;

   private:
    const Context& context_;
  };
  /** Throws where the device is lost. */
  [[nodiscard]] Entered enter() const {
    if (lost_) fail_as_lost();
    return Entered(*this);
  }
  /** Throws where the code is not kSuccess; `asked` gives the words of error_of. After kDeviceLost every further use of
   * the device throws. */
  void check(CUresult code, const char* function, auto&& asked) {
    if (code != kSuccess) fail(code, function, asked());
  }
  /** Queues say when they come and go. */
  void add(CUstream stream);
  void remove(CUstream stream);
  /** Waits for the work of all queues; who waits for it learns of its failure. In the context. */
  void finish_all();

 private:
  [[noreturn]] void fail(CUresult code, const char* function, const std::string& asked);
  [[noreturn]] void fail_as_lost() const;

  const Driver& driver_;
  const DeviceTraits traits_;
  const CUdevice device_;
  const int capability_;
  CUcontext context_ = nullptr;
  std::atomic<bool> lost_{false};
  std::mutex mutex_;
  std::multiset<CUstream> streams_;
};

/** Owns an object of the driver, which ends in its context. */
template <class Object, CUresult (*Driver::*kEnd)(Object)>
class Handle {
 public:
  Handle() = default;
  Handle(std::shared_ptr<Context> context, Object object) : context_(std::move(context)), object_(object) {}
  Handle(Handle&& other) noexcept { *this = std::move(other); }
  Handle& operator=(Handle&& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(object_, other.object_);
    return *this;
  }
  ~Handle() {
    if (object_ == nullptr) return;
    Context::Entered entered(*context_);
    (context_->driver().*kEnd)(object_);
  }
  Object get() const { return object_; }

 private:
  std::shared_ptr<Context> context_;
  Object object_ = nullptr;
};

using EventHandle = Handle<CUevent, &Driver::cuEventDestroy>;
using ModuleHandle = Handle<CUmodule, &Driver::cuModuleUnload>;
using StreamHandle = Handle<CUstream, &Driver::cuStreamDestroy>;
using GraphHandle = Handle<CUgraph, &Driver::cuGraphDestroy>;
using GraphExecHandle = Handle<CUgraphExec, &Driver::cuGraphExecDestroy>;

}  // namespace ortolan::gpu::cuda
