// A GPU of NVIDIA's driver.
#pragma once

#include "cuda/platform.h"

namespace ortolan::gpu::cuda {

std::unique_ptr<gpu::Device> open_device(const FoundDevice& found);

}  // namespace ortolan::gpu::cuda
