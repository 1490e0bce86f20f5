// The factory: what the library offers to a runtime, and everything that its providers share.
#pragma once

#include <string>

#include "counters.h"
#include "device.h"
#include "host.h"

namespace ortolan::example {

/** The two ways in which a provider can run nodes. */
enum class Path {
  kCompile,  // groups of nodes become one: GetCapability, Compile, OrtNodeComputeInfo
  kKernels,  // node by node with the kernels of a registry: GetKernelRegistry, OrtKernelImpl
};

class Factory : public OrtEpFactory, private Counted<Live::kFactory> {
 public:
  /** `number` tells the devices of the factories of this library apart. */
  Factory(const Host& host, Path path, int number);
  ~Factory();

  const Host& host() const { return host_; }
  Path path() const { return path_; }
  const std::string& name() const { return name_; }
  Device& device() { return device_; }
  /** How much work queues gather before they start, until told otherwise. */
  const std::atomic<int>& default_gather() const { return default_gather_; }
  OrtAllocator* create_allocator(const OrtMemoryInfo* memory, size_t limit);
  const OrtMemoryDevice* memory_device() const;

 private:
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
  static OrtStatus* ORT_API_CALL create_allocator(OrtEpFactory* self, const OrtMemoryInfo* memory,
                                                  const OrtKeyValuePairs* options, OrtAllocator** allocator) noexcept;
  static void ORT_API_CALL release_allocator(OrtEpFactory* self, OrtAllocator* allocator) noexcept;
  static OrtStatus* ORT_API_CALL create_data_transfer(OrtEpFactory* self, OrtDataTransferImpl** transfer) noexcept;
  static bool ORT_API_CALL is_stream_aware(const OrtEpFactory* self) noexcept;
  static OrtStatus* ORT_API_CALL create_stream(OrtEpFactory* self, const OrtMemoryDevice* memory,
                                               const OrtKeyValuePairs* options, OrtSyncStreamImpl** stream) noexcept;
  static OrtStatus* ORT_API_CALL explain_incompatibility(OrtEpFactory* self, const OrtHardwareDevice* hardware,
                                                         OrtDeviceEpIncompatibilityDetails* details) noexcept;

  void set_functions();
  void describe_memory();
  const OrtHardwareDevice* choose_hardware(const OrtHardwareDevice* const* devices, size_t count);
  OrtEpDevice* create_ep_device(const OrtHardwareDevice* hardware);

  const Host host_;
  const Path path_;
  const int number_;
  const std::string name_;
  Device device_;
  const std::atomic<int> default_gather_{0};
  OrtMemoryInfo* device_memory_ = nullptr;
  OrtMemoryInfo* host_memory_ = nullptr;       // on the host, within the device's reach
  OrtMemoryInfo* constant_memory_ = nullptr;   // on the device, for what stays as it is
  OrtHardwareDevice* own_hardware_ = nullptr;  // one that the machine does not show
};

}  // namespace ortolan::example
