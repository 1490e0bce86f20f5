// The three directions: host to device through a staging copy, device to host after waiting, device to device queued.
#include "data_transfer.h"

#include <cstring>
#include <vector>

#include "tensor.h"

namespace ortolan::example {
namespace {

void to_device(Device& device, const Tensor& source, const Tensor& destination, Queue* queue) {
  note(Event::kToDevice);
  // As with any driver, memory that may be paged is read before the call returns.
  auto* bytes = static_cast<const std::byte*>(source.address);
  std::vector<std::byte> staged(bytes, bytes + source.bytes);
  submit(device, queue, [&device, destination, staged = std::move(staged)] {
    std::memcpy(device.memory(destination.address, destination.bytes), staged.data(), staged.size());
  });
}

void to_host(Device& device, const Tensor& source, const Tensor& destination, Queue* queue) {
  note(Event::kToHost);
  queue ? queue->run_until(queue->end()) : device.finish();
  std::memcpy(destination.address, device.memory(source.address, source.bytes), source.bytes);
}

void on_device(Device& device, const Tensor& source, const Tensor& destination, Queue* queue) {
  note(Event::kOnDevice);
  submit(device, queue, [&device, source, destination] {
    std::memmove(device.memory(destination.address, source.bytes), device.memory(source.address, source.bytes),
                 source.bytes);
  });
}

}  // namespace

void copy_tensor(const Host& host, Device& device, const OrtValue* from, OrtValue* to, Queue* queue) {
  Tensor source = tensor_of(host, from), destination = tensor_of(host, to);
  if (source.bytes != destination.bytes) {
    fail(ORT_INVALID_ARGUMENT, "cannot copy " + std::to_string(source.bytes) + " bytes to a tensor of " +
                                   std::to_string(destination.bytes) + " bytes");
  }
  if (source.bytes == 0) return;
  bool from_device = device.holds(source.address), into_device = device.holds(destination.address);
  if (from_device && into_device) {
    on_device(device, source, destination, queue);
  } else if (into_device) {
    to_device(device, source, destination, queue);
  } else if (from_device) {
    to_host(device, source, destination, queue);
  } else {
    std::memcpy(destination.address, source.address, source.bytes);
  }
}

DataTransfer::DataTransfer(const Host& host, Device& device, const OrtMemoryDevice* own)
    : OrtDataTransferImpl{}, host_(host), device_(device), own_(own) {
  ort_version_supported = host.level;
  Release = release;
  CanCopy = can_copy;
  CopyTensors = copy_tensors;
}

void ORT_API_CALL DataTransfer::release(OrtDataTransferImpl* self) noexcept { delete static_cast<DataTransfer*>(self); }

bool DataTransfer::is_own(const OrtMemoryDevice* memory) const {
  const OrtEpApi& ep = *host_.ep;
  return ep.MemoryDevice_GetDeviceType(memory) == ep.MemoryDevice_GetDeviceType(own_) &&
         ep.MemoryDevice_GetVendorId(memory) == ep.MemoryDevice_GetVendorId(own_) &&
         ep.MemoryDevice_GetDeviceId(memory) == ep.MemoryDevice_GetDeviceId(own_);
}

bool DataTransfer::is_host(const OrtMemoryDevice* memory) const {
  return host_.ep->MemoryDevice_GetDeviceType(memory) == OrtMemoryInfoDeviceType_CPU;
}

bool ORT_API_CALL DataTransfer::can_copy(const OrtDataTransferImpl* self, const OrtMemoryDevice* source,
                                         const OrtMemoryDevice* destination) noexcept {
  const auto& transfer = *static_cast<const DataTransfer*>(self);
  bool from_own = transfer.is_own(source), to_own = transfer.is_own(destination);
  return (from_own && (to_own || transfer.is_host(destination))) || (to_own && transfer.is_host(source));
}

OrtStatus* ORT_API_CALL DataTransfer::copy_tensors(OrtDataTransferImpl* self, const OrtValue** sources,
                                                   OrtValue** destinations, OrtSyncStream** streams,
                                                   size_t count) noexcept {
  auto& transfer = *static_cast<DataTransfer*>(self);
  return guard(transfer.host_, [&] {
    for (size_t i = 0; i < count; i++) {
      OrtSyncStream* stream = streams ? streams[i] : nullptr;
      void* handle = stream ? transfer.host_.api->SyncStream_GetHandle(stream) : nullptr;
      copy_tensor(transfer.host_, transfer.device_, sources[i], destinations[i], transfer.device_.find_queue(handle));
    }
  });
}

}  // namespace ortolan::example
