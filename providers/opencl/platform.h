// The devices that the installed OpenCL drivers have.
#pragma once

#include <CL/cl.h>

#include <string>
#include <vector>

#include "gpu/device/device.h"

namespace ortolan::gpu::opencl {

struct FoundDevice {
  cl_platform_id platform;
  cl_device_id device;
  uint32_t vendor_id;  // of PCI where the device has one
  DeviceTraits traits;
};

/** All processors and GPUs that can compile and run kernels, in the order of the drivers. Throws kNoDevice, with the
 * names of packages that bring a driver, where there is none. */
std::vector<FoundDevice> find_devices();

/** Whether a device with these extensions and this CL_DEVICE_HALF_FP_CONFIG has 16-bit arithmetic as kernels need it.
 */
bool has_half_arithmetic(const std::string& extensions, cl_device_fp_config config);

}  // namespace ortolan::gpu::opencl
