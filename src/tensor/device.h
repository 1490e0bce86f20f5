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

/** True when values need no copy between these memories: the same device and kind of memory, or both the CPU's. */
inline bool same_place(const MemoryInfo& a, const MemoryInfo& b) {
  if (a.on_cpu() && b.on_cpu()) return true;
  return a.device == b.device && a.host_accessible == b.host_accessible;
}

}  // namespace ortolan::tensor
