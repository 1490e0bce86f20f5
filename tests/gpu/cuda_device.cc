// Opens the stand-ins.
#include "gpu/cuda_device.h"

#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "cuda/device.h"

namespace ortolan::gpu {

std::unique_ptr<Device> open_cuda() {
  setenv("ORTOLAN_LIBCUDA", STANDIN_LIBCUDA, 0);
  setenv("ORTOLAN_LIBNVRTC", STANDIN_LIBNVRTC, 0);
  setenv("ORTOLAN_LIBCUBLASLT", STANDIN_LIBCUBLASLT, 0);
  return cuda::open_device(cuda::find_devices().front());
}

void* standin_function(const char* name) {
  void* library = dlopen(STANDIN_LIBCUDA, RTLD_NOW | RTLD_LOCAL);
  void* function = library == nullptr ? nullptr : dlsym(library, name);
  if (function == nullptr) throw std::runtime_error(std::string("no stand-in has ") + name);
  return function;
}

}  // namespace ortolan::gpu
