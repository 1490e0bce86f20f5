// OpenCL's first device, for tests.
#pragma once

#include <memory>

#include "gpu/device/device.h"

namespace ortolan::gpu {

/** Throws kNoDevice where there is no driver. PoCL gets two threads, and keeps what it compiles in the build tree. */
std::unique_ptr<Device> open_opencl();

}  // namespace ortolan::gpu
