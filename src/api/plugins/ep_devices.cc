// Hardware devices, providers on devices, and the device part of memory infos: the slots on them.
#include "api/plugins/ep_devices.h"

#include "api/arguments.h"
#include "api/environment/environments.h"
#include "api/guard.h"
#include "api/plugins/ep_incompatibility.h"
#include "api/plugins/ep_library.h"
#include "api/plugins/ep_members.h"
#include "api/plugins/ep_registry.h"
#include "tensor/value.h"

namespace ortolan::api {
namespace {

/** A copy of the list; an empty one for NULL. */
base::KeyValues copied(const OrtKeyValuePairs* pairs) {
  return pairs == nullptr ? base::KeyValues() : *unwrap_optional(pairs);
}

const MemoryInfo* memory_of(const OrtMemoryDevice* device) { return unwrap_optional(device); }

}  // namespace

OrtStatus* ORT_API_CALL GetNumHardwareDevices(const OrtEnv* env, size_t* num_devices) noexcept {
  return guard([&] {
    unwrap(env, "env");
    put(num_devices, runtime::machine_devices().size(), "num_devices");
  });
}

OrtStatus* ORT_API_CALL GetHardwareDevices(const OrtEnv* env, const OrtHardwareDevice** devices,
                                           size_t num_devices) noexcept {
  return guard([&] {
    unwrap(env, "env");
    auto known = runtime::machine_devices();
    require_argument(devices, "devices");
    require(num_devices >= known.size(), ErrorCode::kInvalidArgument, "there is room for ", num_devices,
            " devices, but there are ", known.size(), "; GetNumHardwareDevices tells how many");
    for (size_t i = 0; i < known.size(); ++i) devices[i] = wrap<const OrtHardwareDevice>(&known[i]);
  });
}

OrtHardwareDeviceType ORT_API_CALL HardwareDevice_Type(const OrtHardwareDevice* device) noexcept {
  return device == nullptr ? OrtHardwareDeviceType_CPU
                           : static_cast<OrtHardwareDeviceType>(unwrap_optional(device)->type);
}
uint32_t ORT_API_CALL HardwareDevice_VendorId(const OrtHardwareDevice* device) noexcept {
  return device == nullptr ? 0 : unwrap_optional(device)->vendor;
}
const char* ORT_API_CALL HardwareDevice_Vendor(const OrtHardwareDevice* device) noexcept {
  return device == nullptr ? nullptr : unwrap_optional(device)->vendor_name.c_str();
}
uint32_t ORT_API_CALL HardwareDevice_DeviceId(const OrtHardwareDevice* device) noexcept {
  return device == nullptr ? 0 : unwrap_optional(device)->id;
}
const OrtKeyValuePairs* ORT_API_CALL HardwareDevice_Metadata(const OrtHardwareDevice* device) noexcept {
  return device == nullptr ? nullptr : wrap<const OrtKeyValuePairs>(&unwrap_optional(device)->metadata);
}

OrtStatus* ORT_API_CALL CreateHardwareDevice(OrtHardwareDeviceType type, uint32_t vendor_id, uint32_t device_id,
                                             const char* vendor_name, const OrtKeyValuePairs* metadata,
                                             OrtHardwareDevice** hardware_device) noexcept {
  return guard([&] {
    require(type >= OrtHardwareDeviceType_CPU && type <= OrtHardwareDeviceType_NPU, ErrorCode::kInvalidArgument,
            "hardware device type ", static_cast<int>(type), " is none of OrtHardwareDeviceType's");
    runtime::HardwareDevice device{static_cast<runtime::HardwareType>(type), vendor_id, device_id,
                                   text(vendor_name, "vendor_name"), copied(metadata)};
    give(hardware_device, std::move(device), "hardware_device");
  });
}

void ORT_API_CALL ReleaseHardwareDevice(OrtHardwareDevice* device) noexcept { release(device); }

OrtStatus* ORT_API_CALL CreateEpDevice(OrtEpFactory* ep_factory, const OrtHardwareDevice* hardware_device,
                                       const OrtKeyValuePairs* ep_metadata, const OrtKeyValuePairs* ep_options,
                                       OrtEpDevice** ep_device) noexcept {
  return guard([&] {
    require_argument(ep_factory, "ep_factory");
    EpDevice device;
    device.hardware = &unwrap(hardware_device, "hardware_device");
    device.factory = ep_factory;
    device.provider = EpLibrary::name_of(*ep_factory);
    const char* vendor = ep_factory->GetVendor == nullptr ? nullptr : ep_factory->GetVendor(ep_factory);
    device.vendor = vendor == nullptr ? "" : vendor;
    device.metadata = copied(ep_metadata);
    device.options = copied(ep_options);
    give(ep_device, std::move(device), "ep_device");
  });
}

void ORT_API_CALL ReleaseEpDevice(OrtEpDevice* device) noexcept { release(device); }

OrtStatus* ORT_API_CALL EpDevice_AddAllocatorInfo(OrtEpDevice* ep_device, const OrtMemoryInfo* memory_info) noexcept {
  return guard([&] {
    EpDevice& device = unwrap(ep_device, "ep_device");
    const MemoryInfo& memory = unwrap(memory_info, "allocator_memory_info");
    require(memory.allocator_type != OrtArenaAllocator, ErrorCode::kInvalidArgument, "memory '", memory.name,
            "' is of an OrtArenaAllocator; a provider's allocators are OrtDeviceAllocator or OrtReadOnlyAllocator, "
            "whether they keep an arena or not");
    bool host = MemoryInfoGetDeviceMemType(memory_info) == OrtDeviceMemoryType_HOST_ACCESSIBLE;
    bool read_only = memory.allocator_type == OrtReadOnlyAllocator;
    const OrtMemoryInfo*& place = read_only ? device.read_only_memory : host ? device.host_memory : device.memory;
    place = memory_info;
  });
}

const char* ORT_API_CALL EpDevice_EpName(const OrtEpDevice* ep_device) noexcept {
  return ep_device == nullptr ? nullptr : unwrap_optional(ep_device)->provider.c_str();
}
const char* ORT_API_CALL EpDevice_EpVendor(const OrtEpDevice* ep_device) noexcept {
  return ep_device == nullptr ? nullptr : unwrap_optional(ep_device)->vendor.c_str();
}
const OrtKeyValuePairs* ORT_API_CALL EpDevice_EpMetadata(const OrtEpDevice* ep_device) noexcept {
  return ep_device == nullptr ? nullptr : wrap<const OrtKeyValuePairs>(&unwrap_optional(ep_device)->metadata);
}
const OrtKeyValuePairs* ORT_API_CALL EpDevice_EpOptions(const OrtEpDevice* ep_device) noexcept {
  return ep_device == nullptr ? nullptr : wrap<const OrtKeyValuePairs>(&unwrap_optional(ep_device)->options);
}
const OrtHardwareDevice* ORT_API_CALL EpDevice_Device(const OrtEpDevice* ep_device) noexcept {
  return ep_device == nullptr ? nullptr : wrap<const OrtHardwareDevice>(unwrap_optional(ep_device)->hardware);
}
const OrtMemoryInfo* ORT_API_CALL EpDevice_MemoryInfo(const OrtEpDevice* ep_device,
                                                      OrtDeviceMemoryType memory_type) noexcept {
  return ep_device == nullptr ? nullptr : unwrap_optional(ep_device)->memory_of(memory_type);
}

const OrtMemoryDevice* ORT_API_CALL MemoryInfo_GetMemoryDevice(const OrtMemoryInfo* memory_info) noexcept {
  return wrap<const OrtMemoryDevice>(unwrap_optional(memory_info));
}

const OrtMemoryDevice* ORT_API_CALL Value_GetMemoryDevice(const OrtValue* value) noexcept {
  if (value == nullptr) return nullptr;
  const Tensor* tensor = unwrap_optional(value)->tensor_if();
  return tensor == nullptr ? nullptr : wrap<const OrtMemoryDevice>(&tensor->memory());
}

bool ORT_API_CALL MemoryDevice_AreEqual(const OrtMemoryDevice* a, const OrtMemoryDevice* b) noexcept {
  if (a == nullptr || b == nullptr) return a == b;
  return memory_of(a)->device == memory_of(b)->device && MemoryDevice_GetMemoryType(a) == MemoryDevice_GetMemoryType(b);
}
OrtMemoryInfoDeviceType ORT_API_CALL MemoryDevice_GetDeviceType(const OrtMemoryDevice* device) noexcept {
  return device == nullptr ? OrtMemoryInfoDeviceType_CPU
                           : static_cast<OrtMemoryInfoDeviceType>(memory_of(device)->device.type);
}
OrtDeviceMemoryType ORT_API_CALL MemoryDevice_GetMemoryType(const OrtMemoryDevice* device) noexcept {
  return MemoryInfoGetDeviceMemType(wrap<const OrtMemoryInfo>(memory_of(device)));
}
uint32_t ORT_API_CALL MemoryDevice_GetVendorId(const OrtMemoryDevice* device) noexcept {
  return device == nullptr ? 0 : memory_of(device)->device.vendor;
}
uint32_t ORT_API_CALL MemoryDevice_GetDeviceId(const OrtMemoryDevice* device) noexcept {
  return device == nullptr ? 0 : static_cast<uint32_t>(memory_of(device)->device.id);
}

OrtStatus* ORT_API_CALL GetEnvConfigEntries(OrtKeyValuePairs** config_entries) noexcept {
  return guard([&] {
    auto environment = current_environment();
    require(environment != nullptr, ErrorCode::kFail, "there is no environment; create it first");
    give(config_entries, environment->config(), "config_entries");
  });
}

OrtStatus* ORT_API_CALL
GetHardwareDeviceEpIncompatibilityDetails(const OrtEnv* env, const char* ep_name, const OrtHardwareDevice* hw,
                                          OrtDeviceEpIncompatibilityDetails** details) noexcept {
  return guard([&] {
    auto environment = environment_of(env);
    std::string_view name = text(ep_name, "ep_name");
    unwrap(hw, "hw");
    auto snapshot = EpRegistry::of(*environment).snapshot();
    auto answer = std::make_unique<DeviceIncompatibility>();
    bool known = name == snapshot.devices.front()->provider;  // the CPU provider works on any machine
    for (const auto& registration : snapshot.registrations) {
      for (OrtEpFactory* factory : registration->library->factories()) {
        if (known || EpLibrary::name_of(*factory) != name) continue;
        known = true;
        auto ask = member_if(*factory, &OrtEpFactory::GetHardwareDeviceIncompatibilityDetails, 24);
        if (ask == nullptr) continue;
        auto* handle = wrap<OrtDeviceEpIncompatibilityDetails>(answer.get());
        check_plugin(ask(factory, hw, handle), name, "GetHardwareDeviceIncompatibilityDetails");
      }
    }
    require(known, ErrorCode::kInvalidArgument, "no execution provider is called '", name,
            "'; GetEpDevices lists those that are registered");
    require_argument(details, "details");
    *details = wrap<OrtDeviceEpIncompatibilityDetails>(std::move(answer));
  });
}

OrtStatus* ORT_API_CALL DeviceEpIncompatibilityDetails_SetDetails(OrtDeviceEpIncompatibilityDetails* details,
                                                                  uint32_t reasons_bitmask, int32_t error_code,
                                                                  const char* notes) noexcept {
  return guard([&] { unwrap(details, "details") = {reasons_bitmask, error_code, notes == nullptr ? "" : notes}; });
}

OrtStatus* ORT_API_CALL DeviceEpIncompatibilityDetails_GetReasonsBitmask(
    const OrtDeviceEpIncompatibilityDetails* details, uint32_t* reasons_bitmask) noexcept {
  return guard([&] { put(reasons_bitmask, unwrap(details, "details").reasons, "reasons_bitmask"); });
}
OrtStatus* ORT_API_CALL DeviceEpIncompatibilityDetails_GetNotes(const OrtDeviceEpIncompatibilityDetails* details,
                                                                const char** notes) noexcept {
  return guard([&] {
    const std::string& text = unwrap(details, "details").notes;
    put(notes, text.empty() ? nullptr : text.c_str(), "notes");
  });
}
OrtStatus* ORT_API_CALL DeviceEpIncompatibilityDetails_GetErrorCode(const OrtDeviceEpIncompatibilityDetails* details,
                                                                    int32_t* error_code) noexcept {
  return guard([&] { put(error_code, unwrap(details, "details").error_code, "error_code"); });
}
void ORT_API_CALL ReleaseDeviceEpIncompatibilityDetails(OrtDeviceEpIncompatibilityDetails* details) noexcept {
  release(details);
}

}  // namespace ortolan::api
