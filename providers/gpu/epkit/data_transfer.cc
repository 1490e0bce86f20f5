// Finds the device that a copy is about.
#include "gpu/epkit/data_transfer.h"

#include <cstring>

#include "gpu/epkit/factory.h"

namespace ortolan::gpu::epkit {

DataTransfer::DataTransfer(const Host& host, Factory& factory) : OrtDataTransferImpl{}, host_(host), factory_(factory) {
  ort_version_supported = host.level;
  Release = release;
  CanCopy = can_copy;
  CopyTensors = copy_tensors;
}

void ORT_API_CALL DataTransfer::release(OrtDataTransferImpl* self) noexcept { delete static_cast<DataTransfer*>(self); }

bool ORT_API_CALL DataTransfer::can_copy(const OrtDataTransferImpl* self, const OrtMemoryDevice* source,
                                         const OrtMemoryDevice* destination) noexcept {
  const auto& transfer = *static_cast<const DataTransfer*>(self);
  auto is_host = [&](const OrtMemoryDevice* memory) {
    return transfer.host_.ep->MemoryDevice_GetDeviceType(memory) == OrtMemoryInfoDeviceType_CPU;
  };
  int from = transfer.factory_.number_of(source), to = transfer.factory_.number_of(destination);
  return (from >= 0 && (to == from || is_host(destination))) || (to >= 0 && is_host(source));
}

void DataTransfer::copy(const Tensor& source, const Tensor& destination, OrtSyncStream* stream) {
  if (source.bytes == 0) return;
  DeviceContext* context = factory_.find_context(source.address);
  if (context == nullptr) context = factory_.find_context(destination.address);
  if (context == nullptr) {
    std::memcpy(destination.address, source.address, source.bytes);
    return;
  }
  ScopedQueue queue(*context, stream == nullptr ? nullptr : host_.api->SyncStream_GetHandle(stream));
  if (stream == nullptr) context->finish();  // the copy comes after all that was queued
  copy_tensor(*queue, source, destination);
  queue.close();
}

OrtStatus* ORT_API_CALL DataTransfer::copy_tensors(OrtDataTransferImpl* self, const OrtValue** sources,
                                                   OrtValue** destinations, OrtSyncStream** streams,
                                                   size_t count) noexcept {
  auto& transfer = *static_cast<DataTransfer*>(self);
  return guard(transfer.host_, [&] {
    for (size_t i = 0; i < count; i++) {
      transfer.copy(tensor_of(transfer.host_, sources[i]), tensor_of(transfer.host_, destinations[i]),
                    streams == nullptr ? nullptr : streams[i]);
    }
  });
}

}  // namespace ortolan::gpu::epkit
