// A provider on a device: what stands behind OrtEpDevice.
#pragma once

#include <string>

#include "base/key_values.h"
#include "onnxruntime_c_api.h"
#include "runtime/providers/hardware_devices.h"

namespace ortolan::api {

class EpLibrary;

/** OrtEpDevice. The memory infos are the plugin's own objects. */
struct EpDevice {
  std::string provider;
  std::string vendor;
  base::KeyValues metadata;
  base::KeyValues options;
  const runtime::HardwareDevice* hardware = nullptr;
  OrtEpFactory* factory = nullptr;  // NULL: the built-in CPU provider
  const OrtMemoryInfo* memory = nullptr;
  const OrtMemoryInfo* host_memory = nullptr;
  const OrtMemoryInfo* read_only_memory = nullptr;
  EpLibrary* library = nullptr;  // that owns it, once it was given out

  /** That kind of memory on the device; NULL when it has none. */
  const OrtMemoryInfo* memory_of(OrtDeviceMemoryType type) const {
    return type == OrtDeviceMemoryType_HOST_ACCESSIBLE ? host_memory : memory;
  }
};

}  // namespace ortolan::api
