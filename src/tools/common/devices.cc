// Listing devices and registering plugin libraries.
#include "devices.h"

#include <strings.h>

#include "files.h"

namespace ortolan::tools {
namespace {

std::map<std::string, std::string> read_pairs(const Library& library, const OrtKeyValuePairs* pairs) {
  std::map<std::string, std::string> out;
  if (!pairs) return out;
  const char* const* keys = nullptr;
  const char* const* values = nullptr;
  size_t count = 0;
  library->GetKeyValuePairs(pairs, &keys, &values, &count);
  for (size_t i = 0; i < count; ++i) out[keys[i]] = values[i] ? values[i] : "";
  return out;
}

const char* kind_name(OrtHardwareDeviceType type) {
  switch (type) {
    case OrtHardwareDeviceType_CPU:
      return "CPU";
    case OrtHardwareDeviceType_GPU:
      return "GPU";
    case OrtHardwareDeviceType_NPU:
      return "NPU";
  }
  return "other";
}

std::string text_of(const char* text) { return text ? text : ""; }

}  // namespace

std::vector<Device> list_devices(const Library& library, const OrtEnv* environment) {
  const OrtEpDevice* const* handles = nullptr;
  size_t count = 0;
  library.check(library->GetEpDevices(environment, &handles, &count));
  std::vector<Device> devices;
  for (size_t i = 0; i < count; ++i) {
    Device device;
    device.handle = handles[i];
    device.provider = text_of(library->EpDevice_EpName(handles[i]));
    device.provider_vendor = text_of(library->EpDevice_EpVendor(handles[i]));
    device.metadata = read_pairs(library, library->EpDevice_EpMetadata(handles[i]));
    device.options = read_pairs(library, library->EpDevice_EpOptions(handles[i]));
    if (const OrtHardwareDevice* hardware = library->EpDevice_Device(handles[i])) {
      device.kind = kind_name(library->HardwareDevice_Type(hardware));
      device.vendor = text_of(library->HardwareDevice_Vendor(hardware));
      device.vendor_id = library->HardwareDevice_VendorId(hardware);
      device.device_id = library->HardwareDevice_DeviceId(hardware);
      device.metadata.merge(read_pairs(library, library->HardwareDevice_Metadata(hardware)));
    }
    devices.push_back(std::move(device));
  }
  return devices;
}

std::vector<std::string> available_providers(const Library& library) {
  char** names = nullptr;
  int count = 0;
  library.check(library->GetAvailableProviders(&names, &count));
  std::vector<std::string> out(names, names + count);
  library.check(library->ReleaseAvailableProviders(names, count));
  return out;
}

std::vector<const OrtEpDevice*> devices_of(const std::vector<Device>& devices, const std::string& provider) {
  const std::string full = provider + "ExecutionProvider";
  std::vector<const OrtEpDevice*> found;
  for (const Device& device : devices) {
    bool named = !strcasecmp(device.provider.c_str(), provider.c_str());
    if (named || !strcasecmp(device.provider.c_str(), full.c_str())) found.push_back(device.handle);
  }
  return found;
}

void register_plugins(const Library& library, OrtEnv* environment, const std::string& list) {
  for (const std::string& word : split(list, ' ')) {
    if (word.empty()) continue;
    auto [name, path] = parse_pair(word, '|', "a plugin library");
    library.check(library->RegisterExecutionProviderLibrary(environment, name.c_str(), path.c_str()));
  }
}

}  // namespace ortolan::tools
