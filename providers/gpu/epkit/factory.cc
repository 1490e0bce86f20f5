// Shows the runtime the backend's devices, and makes providers, allocators, streams and data transfers for them.
#include "gpu/epkit/factory.h"

#include <algorithm>
#include <cctype>

#include "gpu/epkit/allocator.h"
#include "gpu/epkit/data_transfer.h"
#include "gpu/epkit/importer.h"
#include "gpu/epkit/options.h"
#include "gpu/epkit/provider.h"
#include "gpu/epkit/stream.h"

namespace ortolan::gpu::epkit {
namespace {

constexpr const char* kVendor = "Ortolan";

Factory& factory_of(OrtEpFactory* self) { return *static_cast<Factory*>(self); }

const char* name_of(DeviceType type) {
  return type == DeviceType::kCpu ? "cpu" : type == DeviceType::kAccelerator ? "accelerator" : "gpu";
}

std::string in_lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/** Whether option `device` means that one. */
bool is_meant(const std::string& wanted, const DeviceTraits& traits, size_t number) {
  const std::string text = in_lower_case(wanted);
  if (text.find_first_not_of("0123456789") == std::string::npos) return text == std::to_string(number);
  if (text == "gpu" || text == "cpu" || text == "accelerator") return text == name_of(traits.type);
  return in_lower_case(traits.name).find(text) != std::string::npos;
}

class KeyValues {
 public:
  explicit KeyValues(const Host& host) : host_(host) { host.api->CreateKeyValuePairs(&list_); }
  ~KeyValues() { host_.api->ReleaseKeyValuePairs(list_); }
  KeyValues(const KeyValues&) = delete;
  KeyValues& operator=(const KeyValues&) = delete;
  void add(const char* key, const std::string& value) { host_.api->AddKeyValuePair(list_, key, value.c_str()); }
  OrtKeyValuePairs* get() { return list_; }

 private:
  const Host& host_;
  OrtKeyValuePairs* list_ = nullptr;
};

}  // namespace

Factory::Factory(const Host& host, Backend& backend)
    : OrtEpFactory{},  // every member that is not set below is NULL: not offered
      host_(host),
      backend_(backend) {
  set_functions();
  for (DeviceTraits& traits : backend.list_devices()) {
    entries_.emplace_back();
    entries_.back().traits = std::move(traits);
    describe(entries_.back(), entries_.size() - 1);
  }
}

Factory::~Factory() {
  for (Entry& entry : entries_) {
    entry.context.reset();
    host_.api->ReleaseMemoryInfo(entry.device_memory);
    host_.api->ReleaseMemoryInfo(entry.host_memory);
    if (entry.hardware != nullptr) host_.ep->ReleaseHardwareDevice(entry.hardware);
  }
}

void Factory::set_functions() {
  ort_version_supported = host_.level;
  GetName = get_name;
  GetVendor = get_vendor;
  GetSupportedDevices = get_supported_devices;
  CreateEp = create_ep;
  ReleaseEp = release_ep;
  GetVendorId = get_vendor_id;
  GetVersion = get_version;
  ValidateCompiledModelCompatibilityInfo = validate_compatibility;
  CreateAllocator = create_allocator;
  ReleaseAllocator = release_allocator;
  CreateDataTransfer = create_data_transfer;
  IsStreamAware = is_stream_aware;
  CreateSyncStreamForDevice = create_stream;
  CreateExternalResourceImporterForDevice = create_importer;
}

void Factory::describe(Entry& entry, size_t i) {
  entry.device_memory = describe_memory(i, OrtDeviceMemoryType_DEFAULT);
  entry.host_memory = describe_memory(i, OrtDeviceMemoryType_HOST_ACCESSIBLE);
  entry.hardware = make_hardware(entry.traits, i);
}

OrtMemoryInfo* Factory::describe_memory(size_t i, OrtDeviceMemoryType kind) {
  std::string name = backend_.memory();
  if (kind == OrtDeviceMemoryType_HOST_ACCESSIBLE) name += "Host";
  OrtMemoryInfo* info = nullptr;
  check(host_, host_.api->CreateMemoryInfo_V2(name.c_str(), OrtMemoryInfoDeviceType_GPU, backend_.memory_vendor(),
                                              static_cast<int>(i), kind, 256, OrtDeviceAllocator, &info));
  return info;
}

OrtHardwareDevice* Factory::make_hardware(const DeviceTraits& traits, size_t i) {
  KeyValues metadata(host_);
  metadata.add("Description", traits.name);
  metadata.add("Driver", traits.driver);
  OrtHardwareDevice* hardware = nullptr;
  check(host_, host_.ep->CreateHardwareDevice(OrtHardwareDeviceType_GPU, Backend::kOwnVendor, static_cast<uint32_t>(i),
                                              traits.vendor.c_str(), metadata.get(), &hardware));
  return hardware;
}

OrtEpDevice* Factory::make_ep_device(const Entry& entry, size_t i) {
  KeyValues metadata(host_);
  metadata.add("device", entry.traits.name);
  metadata.add("device_index", std::to_string(i));
  metadata.add("type", name_of(entry.traits.type));
  metadata.add("memory_bytes", std::to_string(entry.traits.memory_bytes));
  metadata.add("precision", refusal(i, Precision::kHalf).empty() ? "fp32 fp16" : "fp32");
  OrtKeyValuePairs* options = default_options(host_);
  OrtEpDevice* device = nullptr;
  OrtStatus* status = host_.ep->CreateEpDevice(this, entry.hardware, metadata.get(), options, &device);
  host_.api->ReleaseKeyValuePairs(options);
  check(host_, status);
  for (OrtMemoryInfo* memory : {entry.device_memory, entry.host_memory}) {
    if (status == nullptr) status = host_.ep->EpDevice_AddAllocatorInfo(device, memory);
  }
  if (status != nullptr) host_.ep->ReleaseEpDevice(device);
  check(host_, status);
  return device;
}

DeviceContext& Factory::context(size_t i) {
  std::lock_guard lock(mutex_);
  Entry& entry = entries_.at(i);
  if (entry.context == nullptr) entry.context = std::make_unique<DeviceContext>(backend_.open(i));
  return *entry.context;
}

size_t Factory::choose(std::span<const OrtHardwareDevice* const> devices, const std::string& wanted) const {
  std::string listed;
  for (const std::string& meant : {wanted.empty() ? "gpu" : wanted, wanted}) {
    listed.clear();
    for (const OrtHardwareDevice* device : devices) {
      size_t number = host_.api->HardwareDevice_DeviceId(device);
      const DeviceTraits& traits = entries_.at(number).traits;
      if (meant.empty() || is_meant(meant, traits, number)) return number;
      listed += (listed.empty() ? "" : ", ") + std::to_string(number) + " '" + traits.name + "' (" +
                name_of(traits.type) + ")";
    }
  }
  fail(ORT_INVALID_ARGUMENT, "option device is '" + wanted +
                                 "', it must be the number, a part of the name or the type " +
                                 "of one of the session's devices: " + listed);
}

std::string Factory::refusal(size_t i, Precision precision) const {
  return refuse_precision(precision, entries_.at(i).traits, backend_.half_feature());
}

const OrtMemoryDevice* Factory::memory_device(size_t i) const {
  return host_.ep->MemoryInfo_GetMemoryDevice(entries_.at(i).device_memory);
}

int Factory::number_of(const OrtMemoryDevice* memory) const {
  for (size_t i = 0; i < entries_.size(); i++) {
    const OrtEpApi& ep = *host_.ep;
    const OrtMemoryDevice* own = memory_device(i);
    if (ep.MemoryDevice_GetDeviceType(memory) == ep.MemoryDevice_GetDeviceType(own) &&
        ep.MemoryDevice_GetVendorId(memory) == ep.MemoryDevice_GetVendorId(own) &&
        ep.MemoryDevice_GetDeviceId(memory) == ep.MemoryDevice_GetDeviceId(own)) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

DeviceContext* Factory::find_context(const void* address) {
  std::lock_guard lock(mutex_);
  for (Entry& entry : entries_) {
    if (entry.context != nullptr && entry.context->memory().holds(address)) return entry.context.get();
  }
  return nullptr;
}

// Not every runtime passes the object that was registered: its device and kind of memory tell which one it is.
OrtAllocator* Factory::make_allocator(const OrtMemoryInfo* memory, size_t limit) {
  int number = number_of(host_.ep->MemoryInfo_GetMemoryDevice(memory));
  if (number < 0) fail(ORT_INVALID_ARGUMENT, std::string(backend_.provider()) + " has no such memory");
  Entry& entry = entries_[static_cast<size_t>(number)];
  bool on_device = host_.api->MemoryInfoGetDeviceMemType(memory) == OrtDeviceMemoryType_DEFAULT;
  return new Allocator(host_, context(static_cast<size_t>(number)), on_device ? entry.device_memory : entry.host_memory,
                       limit);
}

const char* ORT_API_CALL Factory::get_name(const OrtEpFactory* self) noexcept {
  return static_cast<const Factory*>(self)->backend_.provider();
}

const char* ORT_API_CALL Factory::get_vendor(const OrtEpFactory*) noexcept { return kVendor; }

uint32_t ORT_API_CALL Factory::get_vendor_id(const OrtEpFactory*) noexcept { return Backend::kOwnVendor; }

const char* ORT_API_CALL Factory::get_version(const OrtEpFactory* self) noexcept {
  return static_cast<const Factory*>(self)->backend_.version();
}

OrtStatus* ORT_API_CALL Factory::get_supported_devices(OrtEpFactory* self, const OrtHardwareDevice* const*, size_t,
                                                       OrtEpDevice** ep_devices, size_t max_ep_devices,
                                                       size_t* num_ep_devices) noexcept {
  Factory& factory = factory_of(self);
  return guard(factory.host_, [&] {
    *num_ep_devices = 0;
    for (size_t i = 0; i < factory.entries_.size() && i < max_ep_devices; i++) {
      ep_devices[i] = factory.make_ep_device(factory.entries_[i], i);
      (*num_ep_devices)++;
    }
  });
}

OrtStatus* ORT_API_CALL Factory::create_ep(OrtEpFactory* self, const OrtHardwareDevice* const* devices,
                                           const OrtKeyValuePairs* const*, size_t num_devices,
                                           const OrtSessionOptions* session, const OrtLogger* logger,
                                           OrtEp** ep) noexcept {
  Factory& factory = factory_of(self);
  return guard(factory.host_, [&] {
    Host host = factory.host_;
    host.logger = logger;
    Options options = read_options(host, session, factory.backend_.provider(), factory.backend_.options());
    size_t number = factory.choose({devices, num_devices}, options.device);
    std::string refusal = factory.refusal(number, options.precision);
    if (!refusal.empty()) {
      fail(ORT_INVALID_ARGUMENT, "option precision is 'fp16', which device " + std::to_string(number) + " '" +
                                     factory.entries_[number].traits.name + "' does not do: " + refusal +
                                     "; set it to fp32");
    }
    *ep = new Provider(host, factory, number, options, read_context_options(host, session));
  });
}

void ORT_API_CALL Factory::release_ep(OrtEpFactory*, OrtEp* ep) noexcept { delete static_cast<Provider*>(ep); }

OrtStatus* ORT_API_CALL Factory::validate_compatibility(OrtEpFactory*, const OrtHardwareDevice* const*, size_t,
                                                        const char* info,
                                                        OrtCompiledModelCompatibility* judgement) noexcept {
  *judgement = judge_format(info);
  return nullptr;
}

OrtStatus* ORT_API_CALL Factory::create_allocator(OrtEpFactory* self, const OrtMemoryInfo* memory,
                                                  const OrtKeyValuePairs* options, OrtAllocator** allocator) noexcept {
  Factory& factory = factory_of(self);
  return guard(factory.host_, [&] {
    const char* limit = options == nullptr ? nullptr : factory.host_.api->GetKeyValue(options, "memory_limit");
    *allocator = factory.make_allocator(memory, limit == nullptr ? 0 : parse_number("memory_limit", limit));
  });
}

void ORT_API_CALL Factory::release_allocator(OrtEpFactory*, OrtAllocator* allocator) noexcept {
  delete static_cast<Allocator*>(allocator);
}

OrtStatus* ORT_API_CALL Factory::create_data_transfer(OrtEpFactory* self, OrtDataTransferImpl** transfer) noexcept {
  Factory& factory = factory_of(self);
  return guard(factory.host_, [&] { *transfer = new DataTransfer(factory.host_, factory); });
}

/** None for devices that import nothing. */
OrtStatus* ORT_API_CALL Factory::create_importer(OrtEpFactory* self, const OrtEpDevice* device,
                                                 OrtExternalResourceImporterImpl** importer) noexcept {
  Factory& factory = factory_of(self);
  return guard(factory.host_, [&] {
    *importer = nullptr;
    size_t number = factory.host_.api->HardwareDevice_DeviceId(factory.host_.api->EpDevice_Device(device));
    DeviceContext& context = factory.context(number);
    if (!context.device().imports_memory()) return;
    *importer = new Importer(factory.host_, context, device, factory.entries_.at(number).device_memory);
  });
}

bool ORT_API_CALL Factory::is_stream_aware(const OrtEpFactory*) noexcept { return true; }

OrtStatus* ORT_API_CALL Factory::create_stream(OrtEpFactory* self, const OrtMemoryDevice* memory,
                                               const OrtKeyValuePairs*, OrtSyncStreamImpl** stream) noexcept {
  Factory& factory = factory_of(self);
  return guard(factory.host_, [&] {
    int number = factory.number_of(memory);
    if (number < 0 || factory.host_.ep->MemoryDevice_GetMemoryType(memory) != OrtDeviceMemoryType_DEFAULT) {
      fail(ORT_INVALID_ARGUMENT, std::string(factory.backend_.provider()) + " has streams for its device memory only");
    }
    *stream = new Stream(factory.host_, factory.context(static_cast<size_t>(number)));
  });
}

}  // namespace ortolan::gpu::epkit
