// The GPUs that NVIDIA's driver has.
#pragma once

#include <vector>

#include "cuda/driver.h"
#include "gpu/device/device.h"

namespace ortolan::gpu::cuda {

struct FoundDevice {
  CUdevice device;
  int capability;  // of computing: major * 10 + minor
  DeviceTraits traits;
};

/** All that may be used, in the driver's order. Throws kNoDevice, with what to install, where there is none or where
 * the compiler is missing. */
std::vector<FoundDevice> find_devices();

}  // namespace ortolan::gpu::cuda
