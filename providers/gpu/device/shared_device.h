// A device whose memory and queues others in the process use too, by the interface of its driver.
#pragma once

#include "gpu/device/device.h"

namespace ortolan::gpu {

/** What a Device may be besides. Thread-safe. */
class SharedDevice {
 public:
  virtual ~SharedDevice() = default;
  /** Where the driver has a buffer. */
  virtual uintptr_t address_of(const Buffer& buffer) const = 0;
  /** Whether the driver has memory of this device there, whoever made it. Throws where the device is lost. */
  virtual bool holds(const void* address) const = 0;
  /** A buffer in which each of the driver's addresses is an offset. Lives as long as the device. */
  virtual Buffer& all_memory() = 0;
  /** A queue on one of the driver's that the caller has made, for CUDA a stream, and that outlives it. */
  virtual std::unique_ptr<Queue> create_queue_on(void* theirs, bool timed) = 0;
};

}  // namespace ortolan::gpu
