// A device of the CUDA provider, for tests.
#pragma once

#include <memory>

#include "gpu/device/device.h"

namespace ortolan::gpu {

/** The first device of the stand-in driver, or of the libraries that the environment names (ORTOLAN_LIBCUDA,
 * ORTOLAN_LIBNVRTC). */
std::unique_ptr<Device> open_cuda();

/** A function of the stand-in driver (cuda/standin.h); fails the process where there is none. */
void* standin_function(const char* name);

}  // namespace ortolan::gpu
