// Why a provider cannot use a device.
#pragma once

#include <cstdint>
#include <string>

namespace ortolan::api {

/** OrtDeviceEpIncompatibilityDetails. */
struct DeviceIncompatibility {
  uint32_t reasons = 0;  // bits of OrtDeviceEpIncompatibilityReason
  int32_t error_code = 0;
  std::string notes;
};

}  // namespace ortolan::api
