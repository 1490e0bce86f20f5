// A library that stands in for NVIDIA's driver: devices, contexts, codes, and what tests ask of it.
#include <cstdio>

#include "driver_calls.h"
#include "standin.h"

namespace ortolan::gpu::cuda {

std::vector<CUcontext>& entered() {
  thread_local std::vector<CUcontext> contexts;
  return contexts;
}

CUresult count(const char* function) {
  Watched& watched = DriverState::get().watched[function];
  watched.calls++;
  return watched.code != kSuccess && watched.works-- <= 0 ? watched.code : kSuccess;
}

namespace {

const std::map<CUresult, std::pair<const char*, const char*>> kCodes = {
    {kSuccess, {"CUDA_SUCCESS", "no error"}},
    {kInvalidValue, {"CUDA_ERROR_INVALID_VALUE", "invalid argument"}},
    {kOutOfMemory, {"CUDA_ERROR_OUT_OF_MEMORY", "out of memory"}},
    {kNotInitialised, {"CUDA_ERROR_NOT_INITIALIZED", "initialization error"}},
    {kNoDevice, {"CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"}},
    {kInvalidImage, {"CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"}},
    {kInvalidContext, {"CUDA_ERROR_INVALID_CONTEXT", "invalid device context"}},
    {kNotFound, {"CUDA_ERROR_NOT_FOUND", "named symbol not found"}},
    {kIllegalAddress, {"CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"}},
    {kLaunchFailed, {"CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"}},
};

}  // namespace

extern "C" {

CUresult cuInit(unsigned) {
  DriverState& state = DriverState::get();
  std::lock_guard lock(state.mutex);
  if (CUresult code = count("cuInit")) return code;
  if (state.devices == 0) return kNoDevice;
  state.started = true;
  return kSuccess;
}
CUresult cuDriverGetVersion(int* version) {
  *version = 12040;
  return count("cuDriverGetVersion");
}
CUresult cuGetErrorName(CUresult code, const char** name) {
  auto found = kCodes.find(code);
  *name = found == kCodes.end() ? nullptr : found->second.first;
  return *name == nullptr ? kInvalidValue : kSuccess;
}
CUresult cuGetErrorString(CUresult code, const char** text) {
  auto found = kCodes.find(code);
  const std::string& last = DriverState::get().last_error;
  *text = found == kCodes.end()                      ? nullptr
          : code == kIllegalAddress && !last.empty() ? last.c_str()
                                                     : found->second.second;
  return *text == nullptr ? kInvalidValue : kSuccess;
}
CUresult cuDeviceGetCount(int* number) {
  return call("cuDeviceGetCount", [&](DriverState& state) { return *number = state.devices, kSuccess; });
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return call("cuDeviceGet", [&](DriverState& state) {
    *device = ordinal;
    return ordinal >= 0 && ordinal < state.devices ? kSuccess : kInvalidDevice;
  });
}
CUresult cuDeviceGetName(char* name, int bytes, CUdevice device) {
  return call("cuDeviceGetName", [&](DriverState&) {
    std::snprintf(name, static_cast<size_t>(bytes), "stand-in GPU %d", device);
    return kSuccess;
  });
}
CUresult cuDeviceGetAttribute(int* value, int attribute, CUdevice) {
  return call("cuDeviceGetAttribute", [&](DriverState& state) {
    const std::map<int, int> truth = {{kMaxThreadsPerBlock, 1024},
                                      {kMaxSharedMemoryPerBlock, 49152},
                                      {kMultiprocessorCount, 2},
                                      {kComputeCapabilityMajor, DriverState::capability() / 10},
                                      {kComputeCapabilityMinor, DriverState::capability() % 10}};
    auto lie = state.lies.find(attribute);
    auto number = truth.find(attribute);
    *value = lie != state.lies.end() ? lie->second : number != truth.end() ? number->second : 0;
    return kSuccess;
  });
}
CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice) {
  return call("cuDeviceTotalMem", [&](DriverState& state) { return *bytes = state.memory_bytes, kSuccess; });
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return call("cuDevicePrimaryCtxRetain", [&](DriverState& state) {
    *context = &state.contexts.at(static_cast<size_t>(device));
    return kSuccess;
  });
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
  return call("cuDevicePrimaryCtxRelease", [](DriverState&) { return kSuccess; });
}
CUresult cuCtxPushCurrent_v2(CUcontext context) {
  entered().push_back(context);
  return kSuccess;
}
CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  if (entered().empty()) return kInvalidContext;
  *context = entered().back();
  entered().pop_back();
  return kSuccess;
}

void standin_fail(const char* function, int code, int works) {
  DriverState& state = DriverState::get();
  std::lock_guard lock(state.mutex);
  state.watched[function].code = code;
  state.watched[function].works = works;
}
int standin_calls(const char* function) {
  DriverState& state = DriverState::get();
  std::lock_guard lock(state.mutex);
  return state.watched[function].calls;
}
void standin_lie(int attribute, int value) {
  DriverState& state = DriverState::get();
  std::lock_guard lock(state.mutex);
  state.lies.erase(attribute);
  if (value >= 0) state.lies[attribute] = value;
}
uint64_t standin_bytes_in_use() { return DriverState::get().bytes_in_use; }
uint64_t standin_work_of(void* stream) { return static_cast<CUstream>(stream)->queued; }
void standin_recover() {
  DriverState& state = DriverState::get();
  std::lock_guard lock(state.mutex);
  state.sticky = kSuccess;
  state.last_error.clear();
  for (CUstream stream : state.streams) stream->work.clear();
}
void standin_enqueue(void* stream, void (*work)(void*), void* data, void (*end)(void*)) {
  DriverState& state = DriverState::get();
  std::lock_guard lock(state.mutex);
  enqueue(state, static_cast<CUstream>(stream),
          [work, held = std::shared_ptr<void>(data, end)] { return work(held.get()), kSuccess; });
}
void* standin_memory(uint64_t address, uint64_t bytes) { return DriverState::get().memory(address, bytes); }

}  // extern "C"

}  // namespace ortolan::gpu::cuda
