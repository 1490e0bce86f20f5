// The devices that a library offers, and the plugin libraries that add some.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "library.h"

namespace ortolan::tools {

struct Device {
  const OrtEpDevice* handle = nullptr;  // lives as long as the environment
  std::string provider, provider_vendor;
  std::string kind;  // CPU, GPU, NPU
  std::string vendor;
  uint32_t vendor_id = 0, device_id = 0;
  std::map<std::string, std::string> metadata, options;
};

// What the library's registered providers offer, in its order; some libraries have none.
std::vector<Device> list_devices(const Library& library, const OrtEnv* environment);
std::vector<std::string> available_providers(const Library& library);
// The devices of the provider of that name, with or without its common ending, in any case of letters.
std::vector<const OrtEpDevice*> devices_of(const std::vector<Device>& devices, const std::string& provider);
// Registers plugin libraries from "name|path name|path".
void register_plugins(const Library& library, OrtEnv* environment, const std::string& list);

}  // namespace ortolan::tools
