// A device of an OpenCL driver.
#pragma once

#include "opencl/platform.h"

namespace ortolan::gpu::opencl {

std::unique_ptr<gpu::Device> open_device(const FoundDevice& found);

}  // namespace ortolan::gpu::opencl
