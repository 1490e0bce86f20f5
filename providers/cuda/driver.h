// The functions of NVIDIA's driver, libcuda.so.1.
#pragma once

#include <string>

#include "cuda/api.h"
#include "gpu/device/error.h"

namespace ortolan::gpu::cuda {

struct Driver {
  CUresult (*cuInit)(unsigned flags);
  CUresult (*cuDriverGetVersion)(int* version);
  CUresult (*cuGetErrorName)(CUresult code, const char** name);
  CUresult (*cuGetErrorString)(CUresult code, const char** text);
  CUresult (*cuDeviceGetCount)(int* count);
  CUresult (*cuDeviceGet)(CUdevice* device, int ordinal);
  CUresult (*cuDeviceGetName)(char* name, int bytes, CUdevice device);
  CUresult (*cuDeviceGetAttribute)(int* value, CUdevice_attribute attribute, CUdevice device);
  CUresult (*cuDeviceTotalMem)(size_t* bytes, CUdevice device);
  CUresult (*cuDevicePrimaryCtxRetain)(CUcontext* context, CUdevice device);
  CUresult (*cuDevicePrimaryCtxRelease)(CUdevice device);
  CUresult (*cuCtxPushCurrent)(CUcontext context);
  CUresult (*cuCtxPopCurrent)(CUcontext* context);
  CUresult (*cuMemAlloc)(CUdeviceptr* address, size_t bytes);
  CUresult (*cuMemFree)(CUdeviceptr address);
  CUresult (*cuPointerGetAttribute)(void* value, CUpointer_attribute attribute, CUdeviceptr address);
  CUresult (*cuMemcpyHtoDAsync)(CUdeviceptr to, const void* from, size_t bytes, CUstream stream);
  CUresult (*cuMemcpyDtoHAsync)(void* to, CUdeviceptr from, size_t bytes, CUstream stream);
  CUresult (*cuMemcpyDtoDAsync)(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);
  CUresult (*cuStreamCreate)(CUstream* stream, unsigned flags);
  CUresult (*cuStreamDestroy)(CUstream stream);
  CUresult (*cuStreamSynchronize)(CUstream stream);
  CUresult (*cuStreamWaitEvent)(CUstream stream, CUevent event, unsigned flags);
  CUresult (*cuEventCreate)(CUevent* event, unsigned flags);
  CUresult (*cuEventDestroy)(CUevent event);
  CUresult (*cuEventRecord)(CUevent event, CUstream stream);
  CUresult (*cuEventSynchronize)(CUevent event);
  CUresult (*cuEventElapsedTime)(float* milliseconds, CUevent begin, CUevent end);
  CUresult (*cuModuleLoadData)(CUmodule* module, const void* image);
  CUresult (*cuModuleUnload)(CUmodule module);
  CUresult (*cuModuleGetFunction)(CUfunction* function, CUmodule module, const char* name);
  CUresult (*cuFuncGetAttribute)(int* value, int attribute, CUfunction function);
  CUresult (*cuLaunchKernel)(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                             unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void** params,
                             void** extra);
  CUresult (*cuGraphCreate)(CUgraph* graph, unsigned flags);
  CUresult (*cuGraphDestroy)(CUgraph graph);
  CUresult (*cuGraphAddKernelNode)(CUgraphNode* node, CUgraph graph, const CUgraphNode* before, size_t count,
                                   const KernelNodeParams* params);
  CUresult (*cuGraphInstantiate)(CUgraphExec* exec, CUgraph graph, unsigned long long flags);
  CUresult (*cuGraphExecDestroy)(CUgraphExec exec);
  CUresult (*cuGraphExecKernelNodeSetParams)(CUgraphExec exec, CUgraphNode node, const KernelNodeParams* params);
  CUresult (*cuGraphAddChildGraphNode)(CUgraphNode* node, CUgraph graph, const CUgraphNode* before, size_t count,
                                       CUgraph child);
  CUresult (*cuGraphExecChildGraphNodeSetParams)(CUgraphExec exec, CUgraphNode node, CUgraph child);
  CUresult (*cuStreamBeginCapture)(CUstream stream, int mode);
  CUresult (*cuStreamEndCapture)(CUstream stream, CUgraph* graph);
  CUresult (*cuGraphLaunch)(CUgraphExec exec, CUstream stream);
  CUresult (*cuImportExternalMemory)(CUexternalMemory* memory, const ExternalMemoryDescription* described);
  CUresult (*cuExternalMemoryGetMappedBuffer)(CUdeviceptr* address, CUexternalMemory memory,
                                              const ExternalBufferDescription* described);
  CUresult (*cuDestroyExternalMemory)(CUexternalMemory memory);
  CUresult (*cuImportExternalSemaphore)(CUexternalSemaphore* semaphore, const ExternalSemaphoreDescription* described);
  CUresult (*cuWaitExternalSemaphoresAsync)(const CUexternalSemaphore* semaphores, const ExternalSemaphoreWait* waits,
                                            unsigned count, CUstream stream);
  CUresult (*cuSignalExternalSemaphoresAsync)(const CUexternalSemaphore* semaphores,
                                              const ExternalSemaphoreSignal* signals, unsigned count, CUstream stream);
  CUresult (*cuDestroyExternalSemaphore)(CUexternalSemaphore semaphore);
};

/** The machine's driver, which is loaded and started. ORTOLAN_LIBCUDA names another file. Throws kNoDevice, with what
 * to install, where there is none, it is too old, or finds no GPU. */
Driver load_driver();

/** The same, by the first call that finds it, for the whole process. */
const Driver& driver();

/** The code's name and number as the driver says them, and what it is in words. */
std::string code_name(const Driver& driver, CUresult code);

ErrorKind kind_of(CUresult code);

/** The error of a call: `asked` says what it was to do, with its values. */
Error error_of(const Driver& driver, CUresult code, const char* function, const std::string& asked);

/** Throws where the code is not kSuccess. `asked` is called for the words of error_of. */
void check(const Driver& driver, CUresult code, const char* function, auto&& asked) {
  if (code != kSuccess) throw error_of(driver, code, function, asked());
}

}  // namespace ortolan::gpu::cuda
