// A plugin library whose factories and devices a test describes in the variable ORTOLAN_ZOO: factories apart by ';',
// "provider,vendor,vendor id" and its devices apart by '|', a device "type,vendor id,vendor,Discrete". The providers
// take no nodes.
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "onnxruntime_ep_c_api.h"

namespace {

const OrtApi* api;
const OrtEpApi* ep_api;

std::mutex chosen_lock;
std::string chosen;  // what CreateEp was asked for

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

struct Factory : OrtEpFactory {
  std::string name;
  std::string vendor;
  uint32_t vendor_id = 0;
  std::vector<std::string> devices;
  std::vector<OrtHardwareDevice*> hardware;
};
Factory& of(OrtEpFactory* self) { return *static_cast<Factory*>(self); }
const Factory& of(const OrtEpFactory* self) { return *static_cast<const Factory*>(self); }

struct Provider : OrtEp {
  const Factory* factory = nullptr;
};

OrtStatus* ORT_API_CALL get_devices(OrtEpFactory* self, const OrtHardwareDevice* const*, size_t, OrtEpDevice** out,
                                    size_t max, size_t* count) noexcept {
  *count = 0;
  for (const std::string& text : of(self).devices) {
    if (*count == max) break;
    auto part = split(text, ',');
    OrtKeyValuePairs* metadata = nullptr;
    api->CreateKeyValuePairs(&metadata);
    if (part[3] != "-") api->AddKeyValuePair(metadata, "Discrete", part[3].c_str());
    OrtHardwareDevice* hardware = nullptr;
    auto type = static_cast<OrtHardwareDeviceType>(std::atoi(part[0].c_str()));
    auto vendor = static_cast<uint32_t>(std::strtoul(part[1].c_str(), nullptr, 16));
    OrtStatus* status = ep_api->CreateHardwareDevice(type, vendor, static_cast<uint32_t>(of(self).hardware.size()),
                                                     part[2].c_str(), metadata, &hardware);
    api->ReleaseKeyValuePairs(metadata);
    if (status != nullptr) return status;
    of(self).hardware.push_back(hardware);
    status = ep_api->CreateEpDevice(self, hardware, nullptr, nullptr, &out[*count]);
    if (status != nullptr) return status;
    ++*count;
  }
  return nullptr;
}

OrtStatus* ORT_API_CALL create_ep(OrtEpFactory* self, const OrtHardwareDevice* const* devices,
                                  const OrtKeyValuePairs* const*, size_t count, const OrtSessionOptions* session,
                                  const OrtLogger*, OrtEp** out) noexcept {
  char speed[16] = "";
  size_t size = sizeof speed;
  std::string key = "ep." + of(self).name + ".speed";
  api->ReleaseStatus(api->GetSessionConfigEntry(session, key.c_str(), speed, &size));
  std::lock_guard lock(chosen_lock);
  chosen += of(self).name + speed + ":";
  for (size_t i = 0; i < count; ++i) chosen += " " + std::to_string(api->HardwareDevice_DeviceId(devices[i]));
  chosen += ";";
  auto* provider = new Provider();
  provider->ort_version_supported = 24;
  provider->factory = &of(self);
  provider->GetName = [](const OrtEp* ep) noexcept { return static_cast<const Provider*>(ep)->factory->name.c_str(); };
  *out = provider;
  return nullptr;
}

Factory* make_factory(const std::string& text) {
  auto parts = split(text, '|');
  auto head = split(parts[0], ',');
  auto* factory = new Factory();
  factory->name = head[0];
  factory->vendor = head[1];
  factory->vendor_id = static_cast<uint32_t>(std::strtoul(head[2].c_str(), nullptr, 16));
  factory->devices.assign(parts.begin() + 1, parts.end());
  factory->ort_version_supported = 24;
  factory->GetName = [](const OrtEpFactory* self) noexcept { return of(self).name.c_str(); };
  factory->GetVendor = [](const OrtEpFactory* self) noexcept { return of(self).vendor.c_str(); };
  factory->GetVendorId = [](const OrtEpFactory* self) noexcept { return of(self).vendor_id; };
  factory->GetSupportedDevices = get_devices;
  factory->CreateEp = create_ep;
  factory->ReleaseEp = [](OrtEpFactory*, OrtEp* ep) noexcept { delete static_cast<Provider*>(ep); };
  return factory;
}

}  // namespace

#define ZOO_EXPORT extern "C" __attribute__((visibility("default")))

ZOO_EXPORT OrtStatus* CreateEpFactories(const char*, const OrtApiBase* base, const OrtLogger*, OrtEpFactory** factories,
                                        size_t max, size_t* count) {
  api = base->GetApi(24);
  ep_api = api->GetEpApi();
  const char* text = std::getenv("ORTOLAN_ZOO");
  *count = 0;
  for (const std::string& part : split(text == nullptr ? "" : text, ';')) {
    if (*count < max) factories[(*count)++] = make_factory(part);
  }
  return nullptr;
}

ZOO_EXPORT OrtStatus* ReleaseEpFactory(OrtEpFactory* factory) {
  for (OrtHardwareDevice* hardware : of(factory).hardware) ep_api->ReleaseHardwareDevice(hardware);
  delete &of(factory);
  return nullptr;
}

/** The providers made since the last call, as "name: ids of devices;". */
ZOO_EXPORT const char* zoo_chosen() {
  static std::string last;
  std::lock_guard lock(chosen_lock);
  last.swap(chosen);
  chosen.clear();
  return last.c_str();
}
