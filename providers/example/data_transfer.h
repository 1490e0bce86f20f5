// Copies of tensors between the device and the host.
#pragma once

#include "counters.h"
#include "device.h"
#include "host.h"

namespace ortolan::example {

/** Copies between two tensors of equal size, in the queue, or at once where that is null. The host's side of a copy is
 *  done with when the function returns; the device's side is only queued. */
void copy_tensor(const Host& host, Device& device, const OrtValue* source, OrtValue* destination, Queue* queue);

class DataTransfer : public OrtDataTransferImpl, private Counted<Live::kDataTransfer> {
 public:
  /** `own` is the device part of the factory's memory. */
  DataTransfer(const Host& host, Device& device, const OrtMemoryDevice* own);

 private:
  static void ORT_API_CALL release(OrtDataTransferImpl* self) noexcept;
  static bool ORT_API_CALL can_copy(const OrtDataTransferImpl* self, const OrtMemoryDevice* source,
                                    const OrtMemoryDevice* destination) noexcept;
  static OrtStatus* ORT_API_CALL copy_tensors(OrtDataTransferImpl* self, const OrtValue** sources,
                                              OrtValue** destinations, OrtSyncStream** streams, size_t count) noexcept;
  bool is_own(const OrtMemoryDevice* memory) const;
  bool is_host(const OrtMemoryDevice* memory) const;

  const Host host_;
  Device& device_;
  const OrtMemoryDevice* own_;
};

}  // namespace ortolan::example
