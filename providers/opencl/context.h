// What everything on one OpenCL device shares.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>

#include "opencl/codes.h"
#include "opencl/handle.h"
#include "opencl/platform.h"

namespace ortolan::gpu::opencl {

/** A device with its context. Held by all that is on the device. Thread-safe. */
class Context {
 public:
  explicit Context(const FoundDevice& found);

  const DeviceTraits& traits() const { return traits_; }
  cl_device_id device() const { return device_; }
  cl_context get() const { return context_.get(); }

  void fail_if_lost() const {
    if (lost_) fail_as_lost();
  }
  /** Throws where the code is not CL_SUCCESS; `asked` gives the words of error_of. */
  void check(cl_int code, const char* function, auto&& asked) {
    if (code != CL_SUCCESS) fail(code, kind_of(code), function, asked());
  }
  /** Queues say when they come and go. */
  void add(cl_command_queue queue);
  void remove(cl_command_queue queue);
  /** Held while kernels are queued. */
  std::shared_lock<std::shared_mutex> queueing() { return std::shared_lock(quiet_); }
  /** Waits for the work of all queues; while the lock is held no kernel runs or is queued. PoCL ends the process where
   * it is asked for a kernel's binary while the kernel runs. */
  std::unique_lock<std::shared_mutex> quiet();
  /** Throws. After kDeviceLost every further use of the device does. */
  [[noreturn]] void fail(cl_int code, ErrorKind kind, const char* function, const std::string& asked);

 private:
  [[noreturn]] void fail_as_lost() const;

  DeviceTraits traits_;
  cl_device_id device_;
  ContextHandle context_;
  std::atomic<bool> lost_{false};
  std::shared_mutex quiet_;
  std::mutex mutex_;
  std::set<cl_command_queue> queues_;
};

}  // namespace ortolan::gpu::opencl
