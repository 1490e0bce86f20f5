// Copies of tensors between the host and the devices of a provider.
#pragma once

#include "gpu/epkit/device_context.h"

namespace ortolan::gpu::epkit {

class Factory;

class DataTransfer : public OrtDataTransferImpl {
 public:
  DataTransfer(const Host& host, Factory& factory);

 private:
  static void ORT_API_CALL release(OrtDataTransferImpl* self) noexcept;
  static bool ORT_API_CALL can_copy(const OrtDataTransferImpl* self, const OrtMemoryDevice* source,
                                    const OrtMemoryDevice* destination) noexcept;
  static OrtStatus* ORT_API_CALL copy_tensors(OrtDataTransferImpl* self, const OrtValue** sources,
                                              OrtValue** destinations, OrtSyncStream** streams, size_t count) noexcept;
  void copy(const Tensor& source, const Tensor& destination, OrtSyncStream* stream);

  const Host host_;
  Factory& factory_;
};

}  // namespace ortolan::gpu::epkit
