// Opens OpenCL's first device, and tells the leak sanitiser about drivers.
#include "gpu/opencl_device.h"

#include <cstdlib>

#include "opencl/device.h"

namespace ortolan::gpu {

std::unique_ptr<Device> open_opencl() {
  setenv("POCL_CACHE_DIR", ORTOLAN_BINARY_DIR "/pocl-cache", 0);
  setenv("POCL_MAX_PTHREAD_COUNT", "2", 0);
  return opencl::open_device(opencl::find_devices().front());
}

}  // namespace ortolan::gpu

/** Drivers and their compilers keep memory until the process ends. */
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions() {
  return "leak:libpocl\nleak:libLLVM\nleak:libclang\n";
}
