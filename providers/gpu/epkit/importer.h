// Memory of graphics libraries and other programs as tensors on the device, and their semaphores: by file descriptors,
// without copies.
#pragma once

#include "gpu/epkit/device_context.h"

namespace ortolan::gpu::epkit {

/** Imports to one device. What it gives may outlive it. */
class Importer : public OrtExternalResourceImporterImpl {
 public:
  /** `memory` is the device's, as the factory registered it. */
  Importer(const Host& host, DeviceContext& context, const OrtEpDevice* device, const OrtMemoryInfo* memory);

 private:
  static bool ORT_API_CALL can_import_memory(const OrtExternalResourceImporterImpl* self,
                                             OrtExternalMemoryHandleType type) noexcept;
  static OrtStatus* ORT_API_CALL import_memory(OrtExternalResourceImporterImpl* self,
                                               const OrtExternalMemoryDescriptor* described,
                                               OrtExternalMemoryHandle** out) noexcept;
  static void ORT_API_CALL release_memory(OrtExternalResourceImporterImpl* self,
                                          OrtExternalMemoryHandle* handle) noexcept;
  static OrtStatus* ORT_API_CALL create_tensor(OrtExternalResourceImporterImpl* self,
                                               const OrtExternalMemoryHandle* handle,
                                               const OrtExternalTensorDescriptor* described, OrtValue** out) noexcept;
  static bool ORT_API_CALL can_import_semaphore(const OrtExternalResourceImporterImpl* self,
                                                OrtExternalSemaphoreType type) noexcept;
  static OrtStatus* ORT_API_CALL import_semaphore(OrtExternalResourceImporterImpl* self,
                                                  const OrtExternalSemaphoreDescriptor* described,
                                                  OrtExternalSemaphoreHandle** out) noexcept;
  static void ORT_API_CALL release_semaphore(OrtExternalResourceImporterImpl* self,
                                             OrtExternalSemaphoreHandle* handle) noexcept;
  static OrtStatus* ORT_API_CALL wait_semaphore(OrtExternalResourceImporterImpl* self,
                                                OrtExternalSemaphoreHandle* handle, OrtSyncStream* stream,
                                                uint64_t value) noexcept;
  static OrtStatus* ORT_API_CALL signal_semaphore(OrtExternalResourceImporterImpl* self,
                                                  OrtExternalSemaphoreHandle* handle, OrtSyncStream* stream,
                                                  uint64_t value) noexcept;
  static void ORT_API_CALL release(OrtExternalResourceImporterImpl* self) noexcept;

  /** The queue behind a stream of the device's; fails where it is of another. */
  RunQueue& queue_of(OrtSyncStream* stream) const;

  const Host host_;
  DeviceContext& context_;
  const OrtEpDevice* device_;
  const OrtMemoryInfo* memory_;
};

}  // namespace ortolan::gpu::epkit
