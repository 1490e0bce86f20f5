// Queues of work on devices, and copying between devices.
#pragma once

#include "tensor/tensor.h"

namespace ortolan::tensor {

/** A queue of work on a device. Used by one run at a time. Errors of the device are thrown. */
class Stream {
 public:
  virtual ~Stream() = default;
  /** The memory of the device that it works on. */
  virtual const MemoryInfo& memory() const = 0;
  /** Makes `consumer` wait for all work put in so far; the calling thread where `consumer` is NULL or cannot wait for
      this kind of stream. */
  virtual void wait(Stream* consumer) = 0;
  /** Called when the run that used it is over: starts all work that was put in. */
  virtual void end_run() = 0;
};

/** Copies tensors between memories. Thread-safe. */
class DataTransfer {
 public:
  virtual ~DataTransfer() = default;
  virtual bool can_copy(const MemoryInfo& from, const MemoryInfo& to) const = 0;
  /** Copies the elements; both tensors have the same type and element count. With a stream the copy may only be queued
      there when this returns, without one it is done. */
  virtual void copy(const Tensor& from, Tensor& to, Stream* stream) const = 0;
};

/** OrtReadOnlyAllocator as MemoryInfo::allocator_type: memory of a device for constants alone. */
inline constexpr int kReadOnlyAllocator = 2;

/** The one equal to `info` that is the memory of provider `owner`, and lives as long as the process. What lies there is
    of no use to other providers, although they work on the same device. */
const MemoryInfo& interned(const MemoryInfo& info, const std::string& owner);

/** True for memories of one device, unless they are of two providers. Memory that is no provider's, as where a caller
    has described it, is of any on its device. */
bool same_device(const MemoryInfo& a, const MemoryInfo& b);

/** True when values need no copy between these memories: those of one device and kind, or both the CPU's. */
inline bool same_place(const MemoryInfo& a, const MemoryInfo& b) {
  if (a.on_cpu() && b.on_cpu()) return true;
  return a.host_accessible == b.host_accessible && same_device(a, b);
}

}  // namespace ortolan::tensor
