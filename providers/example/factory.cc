// Shows the runtime one device, and makes providers, allocators, streams and data transfers for it.
#include "factory.h"

#include "allocator.h"
#include "data_transfer.h"
#include "options.h"
#include "provider.h"
#include "stream.h"

namespace ortolan::example {
namespace {

constexpr uint32_t kVendorId = 0x4F52;  // a maker of PCI devices uses the number that it has there
constexpr const char* kVendor = "Ortolan";
constexpr const char* kVersion = "1.0.0";

Factory& factory_of(OrtEpFactory* self) { return *static_cast<Factory*>(self); }

}  // namespace

Factory::Factory(const Host& host, Path path, int number)
    : OrtEpFactory{},  // every member that is not set below is NULL: not offered
      host_(host),
      path_(path),
      number_(number),
      name_(path == Path::kCompile ? "ExampleCompileExecutionProvider" : "ExampleKernelExecutionProvider") {
  set_functions();
  if (host_.has(23)) describe_memory();
}

Factory::~Factory() {
  host_.api->ReleaseMemoryInfo(device_memory_);
  host_.api->ReleaseMemoryInfo(host_memory_);
  host_.api->ReleaseMemoryInfo(constant_memory_);
  if (own_hardware_) host_.ep->ReleaseHardwareDevice(own_hardware_);
}

void Factory::set_functions() {
  ort_version_supported = host_.level;
  GetName = get_name;
  GetVendor = get_vendor;
  GetSupportedDevices = get_supported_devices;
  CreateEp = create_ep;
  ReleaseEp = release_ep;
  // The official library calls these also where the level is 22.
  GetVendorId = get_vendor_id;
  GetVersion = get_version;
  CreateAllocator = create_allocator;
  ReleaseAllocator = release_allocator;
  CreateDataTransfer = create_data_transfer;
  IsStreamAware = is_stream_aware;
  CreateSyncStreamForDevice = create_stream;
  if (host_.has(24)) GetHardwareDeviceIncompatibilityDetails = explain_incompatibility;
}

void Factory::describe_memory() {
  std::string memory = path_ == Path::kCompile ? "ExampleCompile" : "ExampleKernel";
  check(host_, host_.api->CreateMemoryInfo_V2(memory.c_str(), OrtMemoryInfoDeviceType_GPU, kVendorId, number_,
                                              OrtDeviceMemoryType_DEFAULT, 256, OrtDeviceAllocator, &device_memory_));
  check(host_,
        host_.api->CreateMemoryInfo_V2((memory + "Host").c_str(), OrtMemoryInfoDeviceType_GPU, kVendorId, number_,
                                       OrtDeviceMemoryType_HOST_ACCESSIBLE, 256, OrtDeviceAllocator, &host_memory_));
  // Of the same memory; a real provider may well keep what never changes, and never goes, somewhere else.
  check(host_,
        host_.api->CreateMemoryInfo_V2((memory + "Constants").c_str(), OrtMemoryInfoDeviceType_GPU, kVendorId, number_,
                                       OrtDeviceMemoryType_DEFAULT, 256, OrtReadOnlyAllocator, &constant_memory_));
}

const OrtMemoryDevice* Factory::memory_device() const { return host_.ep->MemoryInfo_GetMemoryDevice(device_memory_); }

const char* ORT_API_CALL Factory::get_name(const OrtEpFactory* self) noexcept {
  return static_cast<const Factory*>(self)->name_.c_str();
}

const char* ORT_API_CALL Factory::get_vendor(const OrtEpFactory*) noexcept { return kVendor; }

uint32_t ORT_API_CALL Factory::get_vendor_id(const OrtEpFactory*) noexcept { return kVendorId; }

const char* ORT_API_CALL Factory::get_version(const OrtEpFactory*) noexcept { return kVersion; }

/** A device of this library's own where the runtime lets it add one; before that, it shows itself on the CPU. */
const OrtHardwareDevice* Factory::choose_hardware(const OrtHardwareDevice* const* devices, size_t count) {
  if (!host_.has(24)) {
    for (size_t i = 0; i < count; i++) {
      if (host_.api->HardwareDevice_Type(devices[i]) == OrtHardwareDeviceType_CPU) return devices[i];
    }
    return nullptr;
  }
  if (!own_hardware_) {
    OrtKeyValuePairs* metadata = nullptr;
    host_.api->CreateKeyValuePairs(&metadata);
    host_.api->AddKeyValuePair(metadata, "Description", "a simulated device");
    OrtStatus* status = host_.ep->CreateHardwareDevice(OrtHardwareDeviceType_GPU, kVendorId, number_, kVendor, metadata,
                                                       &own_hardware_);
    host_.api->ReleaseKeyValuePairs(metadata);
    check(host_, status);
  }
  return own_hardware_;
}

OrtEpDevice* Factory::create_ep_device(const OrtHardwareDevice* hardware) {
  OrtKeyValuePairs* metadata = nullptr;
  host_.api->CreateKeyValuePairs(&metadata);
  host_.api->AddKeyValuePair(metadata, kCountersKey, std::to_string(reinterpret_cast<uintptr_t>(&counters())).c_str());
  OrtKeyValuePairs* options = default_options(host_);
  OrtEpDevice* device = nullptr;
  OrtStatus* status = host_.ep->CreateEpDevice(this, hardware, metadata, options, &device);
  host_.api->ReleaseKeyValuePairs(metadata);
  host_.api->ReleaseKeyValuePairs(options);
  check(host_, status);
  for (OrtMemoryInfo* memory : {device_memory_, host_memory_, constant_memory_}) {
    if (memory && !status) status = host_.ep->EpDevice_AddAllocatorInfo(device, memory);
  }
  if (status) host_.ep->ReleaseEpDevice(device);
  check(host_, status);
  return device;
}

OrtStatus* ORT_API_CALL Factory::get_supported_devices(OrtEpFactory* self, const OrtHardwareDevice* const* devices,
                                                       size_t num_devices, OrtEpDevice** ep_devices,
                                                       size_t max_ep_devices, size_t* num_ep_devices) noexcept {
  Factory& factory = factory_of(self);
  return guard(factory.host_, [&] {
    *num_ep_devices = 0;
    const OrtHardwareDevice* hardware = factory.choose_hardware(devices, num_devices);
    if (!hardware || max_ep_devices == 0) return;
    ep_devices[0] = factory.create_ep_device(hardware);
    *num_ep_devices = 1;
  });
}

OrtStatus* ORT_API_CALL Factory::create_ep(OrtEpFactory* self, const OrtHardwareDevice* const*,
                                           const OrtKeyValuePairs* const*, size_t num_devices,
                                           const OrtSessionOptions* session, const OrtLogger* logger,
                                           OrtEp** ep) noexcept {
  Factory& factory = factory_of(self);
  return guard(factory.host_, [&] {
    if (num_devices != 1) fail(ORT_INVALID_ARGUMENT, factory.name_ + " works with one device in a session");
    Host host = factory.host_;
    host.logger = logger;
    *ep = new Provider(host, factory, read_options(host, session, factory.name_));
  });
}

void ORT_API_CALL Factory::release_ep(OrtEpFactory*, OrtEp* ep) noexcept { delete static_cast<Provider*>(ep); }

OrtAllocator* Factory::create_allocator(const OrtMemoryInfo* memory, size_t limit) {
  // Not every runtime passes the object that was registered: the kind of memory tells which one it is.
  bool on_device = host_.api->MemoryInfoGetDeviceMemType(memory) == OrtDeviceMemoryType_DEFAULT;
  OrtAllocatorType type = OrtDeviceAllocator;
  check(host_, host_.api->MemoryInfoGetType(memory, &type));
  const OrtMemoryInfo* on_it = type == OrtReadOnlyAllocator ? constant_memory_ : device_memory_;
  return new Allocator(host_, device_, on_device ? on_it : host_memory_, limit);
}

OrtStatus* ORT_API_CALL Factory::create_allocator(OrtEpFactory* self, const OrtMemoryInfo* memory,
                                                  const OrtKeyValuePairs* options, OrtAllocator** allocator) noexcept {
  Factory& factory = factory_of(self);
  return guard(factory.host_, [&] {
    const char* limit = options ? factory.host_.api->GetKeyValue(options, "memory_limit") : nullptr;
    *allocator = factory.create_allocator(memory, limit ? parse_number("memory_limit", limit) : 0);
  });
}

void ORT_API_CALL Factory::release_allocator(OrtEpFactory*, OrtAllocator* allocator) noexcept {
  delete static_cast<Allocator*>(allocator);
}

OrtStatus* ORT_API_CALL Factory::create_data_transfer(OrtEpFactory* self, OrtDataTransferImpl** transfer) noexcept {
  Factory& factory = factory_of(self);
  return guard(factory.host_,
               [&] { *transfer = new DataTransfer(factory.host_, factory.device_, factory.memory_device()); });
}

bool ORT_API_CALL Factory::is_stream_aware(const OrtEpFactory* self) noexcept {
  return static_cast<const Factory*>(self)->host_.has(23);
}

OrtStatus* ORT_API_CALL Factory::create_stream(OrtEpFactory* self, const OrtMemoryDevice* memory,
                                               const OrtKeyValuePairs*, OrtSyncStreamImpl** stream) noexcept {
  Factory& factory = factory_of(self);
  return guard(factory.host_, [&] {
    if (factory.host_.ep->MemoryDevice_GetMemoryType(memory) != OrtDeviceMemoryType_DEFAULT) {
      fail(ORT_INVALID_ARGUMENT, factory.name_ + " has streams for its device memory only");
    }
    *stream = new Stream(factory.host_, factory.device_, factory.default_gather_);
  });
}

OrtStatus* ORT_API_CALL Factory::explain_incompatibility(OrtEpFactory* self, const OrtHardwareDevice* hardware,
                                                         OrtDeviceEpIncompatibilityDetails* details) noexcept {
  Factory& factory = factory_of(self);
  return guard(factory.host_, [&] {
    if (factory.host_.api->HardwareDevice_VendorId(hardware) == kVendorId) return;
    check(factory.host_, factory.host_.ep->DeviceEpIncompatibilityDetails_SetDetails(
                             details, OrtDeviceEpIncompatibility_DEVICE_INCOMPATIBLE, 1,
                             "the example provider works on its simulated device only"));
  });
}

}  // namespace ortolan::example
