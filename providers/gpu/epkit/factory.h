// The factory: the devices that a library offers to a runtime, and everything that its providers share.
#pragma once

#include "gpu/epkit/backend.h"
#include "gpu/epkit/device_context.h"

namespace ortolan::gpu::epkit {

class Factory : public OrtEpFactory {
 public:
  /** Throws kNoDevice where the backend finds none. */
  Factory(const Host& host, Backend& backend);
  ~Factory();
  Factory(const Factory&) = delete;
  Factory& operator=(const Factory&) = delete;

  const Host& host() const { return host_; }
  Backend& backend() { return backend_; }
  /** Device i, opened at the first need. */
  DeviceContext& context(size_t i);
  const OrtMemoryDevice* memory_device(size_t i) const;
  /** Which of the devices a memory belongs to; -1: none. */
  int number_of(const OrtMemoryDevice* memory) const;
  /** The open device whose range an address is in; NULL where it is in none. */
  DeviceContext* find_context(const void* address);
  OrtAllocator* make_allocator(const OrtMemoryInfo* memory, size_t limit);

 private:
  size_t choose(std::span<const OrtHardwareDevice* const> devices, const std::string& wanted) const;
  /** Why that device does not compute so; empty where it does. */
  std::string refusal(size_t i, Precision precision) const;
  /** What the runtime knows of a device. */
  struct Entry {
    DeviceTraits traits;
    OrtHardwareDevice* hardware = nullptr;
    OrtMemoryInfo* device_memory = nullptr;
    OrtMemoryInfo* host_memory = nullptr;  // on the host, within the device's reach
    std::unique_ptr<DeviceContext> context;
  };
  static const char* ORT_API_CALL get_name(const OrtEpFactory* self) noexcept;
  static const char* ORT_API_CALL get_vendor(const OrtEpFactory* self) noexcept;
  static uint32_t ORT_API_CALL get_vendor_id(const OrtEpFactory* self) noexcept;
  static const char* ORT_API_CALL get_version(const OrtEpFactory* self) noexcept;
  static OrtStatus* ORT_API_CALL get_supported_devices(OrtEpFactory* self, const OrtHardwareDevice* const* devices,
                                                       size_t num_devices, OrtEpDevice** ep_devices,
                                                       size_t max_ep_devices, size_t* num_ep_devices) noexcept;
  static OrtStatus* ORT_API_CALL create_ep(OrtEpFactory* self, const OrtHardwareDevice* const* devices,
                                           const OrtKeyValuePairs* const* metadata, size_t num_devices,
                                           const OrtSessionOptions* session, const OrtLogger* logger,
                                           OrtEp** ep) noexcept;
  static void ORT_API_CALL release_ep(OrtEpFactory* self, OrtEp* ep) noexcept;
  static OrtStatus* ORT_API_CALL validate_compatibility(OrtEpFactory* self, const OrtHardwareDevice* const* devices,
                                                        size_t num_devices, const char* info,
                                                        OrtCompiledModelCompatibility* judgement) noexcept;
  static OrtStatus* ORT_API_CALL create_allocator(OrtEpFactory* self, const OrtMemoryInfo* memory,
                                                  const OrtKeyValuePairs* options, OrtAllocator** allocator) noexcept;
  static void ORT_API_CALL release_allocator(OrtEpFactory* self, OrtAllocator* allocator) noexcept;
  static OrtStatus* ORT_API_CALL create_data_transfer(OrtEpFactory* self, OrtDataTransferImpl** transfer) noexcept;
  static OrtStatus* ORT_API_CALL create_importer(OrtEpFactory* self, const OrtEpDevice* device,
                                                 OrtExternalResourceImporterImpl** importer) noexcept;
  static bool ORT_API_CALL is_stream_aware(const OrtEpFactory* self) noexcept;
  static OrtStatus* ORT_API_CALL create_stream(OrtEpFactory* self, const OrtMemoryDevice* memory,
                                               const OrtKeyValuePairs* options, OrtSyncStreamImpl** stream) noexcept;

  void set_functions();
  void describe(Entry& entry, size_t i);
  OrtMemoryInfo* describe_memory(size_t i, OrtDeviceMemoryType kind);
  OrtHardwareDevice* make_hardware(const DeviceTraits& traits, size_t i);
  OrtEpDevice* make_ep_device(const Entry& entry, size_t i);

  const Host host_;
  Backend& backend_;
  std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace ortolan::gpu::epkit
