// Loads the driver, and says what its codes mean.
#include "cuda/driver.h"

#include "cuda/library.h"

namespace ortolan::gpu::cuda {
namespace {

constexpr const char* kFiles[] = {"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"};
constexpr const char* kInstall =
    "install NVIDIA's driver, the package libcuda1 (Debian, non-free) or libnvidia-compute (Ubuntu)";

[[noreturn]] void fail(const std::string& what) { throw Error(ErrorKind::kNoDevice, "cuda: " + what); }

const char* find_functions(void* library, Driver& d) {
  const Symbol symbols[] = {
      symbol("cuInit", d.cuInit),
      symbol("cuDriverGetVersion", d.cuDriverGetVersion),
      symbol("cuGetErrorName", d.cuGetErrorName),
      symbol("cuGetErrorString", d.cuGetErrorString),
      symbol("cuDeviceGetCount", d.cuDeviceGetCount),
      symbol("cuDeviceGet", d.cuDeviceGet),
      symbol("cuDeviceGetName", d.cuDeviceGetName),
      symbol("cuDeviceGetAttribute", d.cuDeviceGetAttribute),
      symbol("cuDeviceTotalMem_v2", d.cuDeviceTotalMem),
      symbol("cuDevicePrimaryCtxRetain", d.cuDevicePrimaryCtxRetain),
      symbol("cuDevicePrimaryCtxRelease_v2", d.cuDevicePrimaryCtxRelease),
      symbol("cuCtxPushCurrent_v2", d.cuCtxPushCurrent),
      symbol("cuCtxPopCurrent_v2", d.cuCtxPopCurrent),
      symbol("cuMemAlloc_v2", d.cuMemAlloc),
      symbol("cuMemFree_v2", d.cuMemFree),
      symbol("cuPointerGetAttribute", d.cuPointerGetAttribute),
      symbol("cuMemcpyHtoDAsync_v2", d.cuMemcpyHtoDAsync),
      symbol("cuMemcpyDtoHAsync_v2", d.cuMemcpyDtoHAsync),
      symbol("cuMemcpyDtoDAsync_v2", d.cuMemcpyDtoDAsync),
      symbol("cuStreamCreate", d.cuStreamCreate),
      symbol("cuStreamDestroy_v2", d.cuStreamDestroy),
      symbol("cuStreamSynchronize", d.cuStreamSynchronize),
      symbol("cuStreamWaitEvent", d.cuStreamWaitEvent),
      symbol("cuEventCreate", d.cuEventCreate),
      symbol("cuEventDestroy_v2", d.cuEventDestroy),
      symbol("cuEventRecord", d.cuEventRecord),
      symbol("cuEventSynchronize", d.cuEventSynchronize),
      symbol("cuEventElapsedTime", d.cuEventElapsedTime),
      symbol("cuModuleLoadData", d.cuModuleLoadData),
      symbol("cuModuleUnload", d.cuModuleUnload),
      symbol("cuModuleGetFunction", d.cuModuleGetFunction),
      symbol("cuFuncGetAttribute", d.cuFuncGetAttribute),
      symbol("cuLaunchKernel", d.cuLaunchKernel),
      symbol("cuGraphCreate", d.cuGraphCreate),
      symbol("cuGraphDestroy", d.cuGraphDestroy),
      symbol("cuGraphAddKernelNode", d.cuGraphAddKernelNode),
      symbol("cuGraphInstantiateWithFlags", d.cuGraphInstantiate),
      symbol("cuGraphExecDestroy", d.cuGraphExecDestroy),
      symbol("cuGraphExecKernelNodeSetParams", d.cuGraphExecKernelNodeSetParams),
      symbol("cuGraphAddChildGraphNode", d.cuGraphAddChildGraphNode),
      symbol("cuGraphExecChildGraphNodeSetParams", d.cuGraphExecChildGraphNodeSetParams),
      symbol("cuStreamBeginCapture_v2", d.cuStreamBeginCapture),
      symbol("cuStreamEndCapture", d.cuStreamEndCapture),
      symbol("cuGraphLaunch", d.cuGraphLaunch),
      symbol("cuImportExternalMemory", d.cuImportExternalMemory),
      symbol("cuExternalMemoryGetMappedBuffer", d.cuExternalMemoryGetMappedBuffer),
      symbol("cuDestroyExternalMemory", d.cuDestroyExternalMemory),
      symbol("cuImportExternalSemaphore", d.cuImportExternalSemaphore),
      symbol("cuWaitExternalSemaphoresAsync", d.cuWaitExternalSemaphoresAsync),
      symbol("cuSignalExternalSemaphoresAsync", d.cuSignalExternalSemaphoresAsync),
      symbol("cuDestroyExternalSemaphore", d.cuDestroyExternalSemaphore),
  };
  return find_symbols(library, symbols);
}

/** An error of CUDA's stays with the process; else what all backends advise. */
const char* advice(ErrorKind kind) {
  if (kind != ErrorKind::kDeviceLost) return remedy(kind);
  return "; this process cannot use the device any more: start it anew, the system's log (Xid) may tell why";
}

}  // namespace

Driver load_driver() {
  Driver driver;
  void* library = nullptr;
  const std::string file = open_library(library, "ORTOLAN_LIBCUDA", kFiles);
  if (file.empty()) fail(std::string("there is no driver libcuda.so.1; ") + kInstall);
  if (const char* missing = find_functions(library, driver)) {
    fail("the driver " + file + " has no function " + missing + ": it is older than version 470 (CUDA 11.4); " +
         kInstall);
  }
  CUresult code = driver.cuInit(0);
  if (code != kSuccess) {
    fail("the driver " + file + " does not start: cuInit says " + code_name(driver, code) +
         "; a GPU of NVIDIA must be there, and a driver for it; " + kInstall);
  }
  return driver;
}

const Driver& driver() {
  static const Driver loaded = load_driver();
  return loaded;
}

std::string code_name(const Driver& driver, CUresult code) {
  const char *name = nullptr, *text = nullptr;
  if (driver.cuGetErrorName(code, &name) != kSuccess || name == nullptr) name = "a code that the driver does not know";
  if (driver.cuGetErrorString(code, &text) != kSuccess || text == nullptr) text = "no more is known";
  return std::string(name) + " (" + std::to_string(code) + ", " + text + ")";
}

ErrorKind kind_of(CUresult code) {
  switch (code) {
    case kOutOfMemory:
      return ErrorKind::kOutOfMemory;
    case kNoDevice:
      return ErrorKind::kNoDevice;
    case kDeinitialized:
    case kDeviceUnavailable:
    case kEccUncorrectable:
    case kIllegalAddress:
    case kLaunchTimeout:
    case kContextIsDestroyed:
    case kAssert:
    case kUnknown:
      return ErrorKind::kDeviceLost;
    default:
      // From a bad stack to a failed launch: the context takes no more.
      return code >= kHardwareStackError && code <= kLaunchFailed ? ErrorKind::kDeviceLost : ErrorKind::kInternal;
  }
}

Error error_of(const Driver& driver, CUresult code, const char* function, const std::string& asked) {
  ErrorKind kind = kind_of(code);
  return Error(kind, std::string("cuda: ") + function + " says " + code_name(driver, code) + ", asked for " + asked +
                         advice(kind));
}

}  // namespace ortolan::gpu::cuda
