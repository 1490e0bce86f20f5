// A library that stands in for NVIDIA's driver: its functions over the stand-in's state. Device memory is at addresses
// that the host cannot use, fresh memory holds NaN, a block ends when it is freed, whatever is queued.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "kernel_launch.h"
#include "standin.h"

namespace ortolan::gpu::cuda {

struct CUgraphNode_st {
  KernelLaunch launch;
  std::vector<CUgraphNode> before;
};
struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
};
/** The launches of a graph, under the graph's nodes. */
struct CUgraphExec_st {
  std::map<CUgraphNode, CUgraphNode_st> nodes;
};

namespace {

constexpr CUresult kInvalidValue = 1, kNotInitialised = 3, kInvalidDevice = 101, kInvalidImage = 200,
                   kInvalidContext = 201, kNoBinaryForGpu = 209, kNotFound = 500;

thread_local std::vector<CUcontext> entered;

CUresult count(const char* function) {
  Watched& watched = DriverState::get().watched[function];
  watched.calls++;
  return watched.code != kSuccess && watched.works-- <= 0 ? watched.code : kSuccess;
}

/** A call that needs no context. */
template <class Body>
CUresult call(const char* function, Body&& body) {
  DriverState& state = DriverState::get();
  std::lock_guard lock(state.mutex);
  if (CUresult code = count(function)) return code;
  return state.started ? body(state) : kNotInitialised;
}

/** A call within a context, which a sticky error ends. */
template <class Body>
CUresult call_in_context(const char* function, Body&& body) {
  return call(function, [&](DriverState& state) {
    if (entered.empty()) return kInvalidContext;
    return state.sticky != kSuccess ? state.sticky : body(state);
  });
}

CUresult enqueue(DriverState& state, CUstream stream, std::function<CUresult()> work) {
  state.add(stream, {std::move(work), nullptr, nullptr});
  return kSuccess;
}

/** What a graph's nodes do, each after those before it, else the last that was added first. */
std::vector<KernelLaunch> order_of(const CUgraphExec_st& exec) {
  std::vector<KernelLaunch> launches;
  std::set<CUgraphNode> done;
  while (done.size() < exec.nodes.size()) {
    for (auto node = exec.nodes.rbegin(); node != exec.nodes.rend(); ++node) {
      const auto& before = node->second.before;
      bool is_ready = std::all_of(before.begin(), before.end(), [&](CUgraphNode one) { return done.count(one) > 0; });
      if (!is_ready || done.count(node->first) > 0) continue;
      launches.push_back(node->second.launch);
      done.insert(node->first);
      break;
    }
  }
  return launches;
}

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

/** Reads what libnvrtc.cc wrote. */
CUresult read_image(const char* image, CUmod_st& module) {
  int capability = 0, value = 0, taken = 0;
  char target[16] = {}, name[128] = {};
  const size_t mark = std::strlen(kImageMark);
  if (std::strncmp(image, kImageMark, mark) != 0) return kInvalidImage;
  if (std::sscanf(image + mark, "%15[a-z]_%d %127s\n%n", target, &capability, name, &taken) != 3) return kInvalidImage;
  bool fits = std::strcmp(target, "sm") == 0 ? capability == DriverState::capability()
                                             : capability <= DriverState::capability();
  if (!fits) return kNoBinaryForGpu;
  module.kernel = name;
  for (const char* line = image + mark + taken; std::sscanf(line, "%127[A-Z0-9a-z_]=%d\n%n", name, &value, &taken) == 2;
       line += taken) {
    module.constants[name] = value;
  }
  return kSuccess;
}

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
  entered.push_back(context);
  return kSuccess;
}
CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  if (entered.empty()) return kInvalidContext;
  *context = entered.back();
  entered.pop_back();
  return kSuccess;
}

CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  return call_in_context("cuMemAlloc", [&](DriverState& state) {
    if (bytes == 0) return kInvalidValue;
    if (bytes > state.memory_bytes - state.bytes_in_use) return kOutOfMemory;
    *address = state.allocate(entered.back()->device, bytes);
    return kSuccess;
  });
}
CUresult cuMemFree_v2(CUdeviceptr address) {
  return call_in_context("cuMemFree", [&](DriverState& state) {
    auto block = state.blocks.find(address);
    if (block == state.blocks.end()) return kInvalidValue;
    state.bytes_in_use -= block->second.bytes;
    state.blocks.erase(block);
    return kSuccess;
  });
}
CUresult cuPointerGetAttribute(void* value, int attribute, CUdeviceptr address) {
  return call("cuPointerGetAttribute", [&](DriverState& state) {
    auto block = state.find(address);
    if (block == state.blocks.end() || address == block->first + block->second.bytes) return kInvalidValue;
    int number = attribute == kPointerMemoryType      ? static_cast<int>(kMemoryTypeDevice)
                 : attribute == kPointerDeviceOrdinal ? block->second.device
                                                      : 0;
    std::memcpy(value, &number, sizeof number);
    return kSuccess;
  });
}
// As the real driver does with memory that it does not know, the bytes are taken at once.
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  return call_in_context("cuMemcpyHtoDAsync", [&](DriverState& state) {
    if (state.memory(to, bytes) == nullptr) return kInvalidValue;
    const auto* first = static_cast<const std::byte*>(from);
    return enqueue(state, stream, [&state, to, taken = std::vector<std::byte>(first, first + bytes)] {
      std::byte* target = state.memory(to, taken.size());
      if (target == nullptr) return kIllegalAddress;
      std::copy(taken.begin(), taken.end(), target);
      return kSuccess;
    });
  });
}
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return call_in_context("cuMemcpyDtoHAsync", [&](DriverState& state) {
    if (state.memory(from, bytes) == nullptr) return kInvalidValue;
    return enqueue(state, stream, [&state, to, from, bytes] {
      const std::byte* source = state.memory(from, bytes);
      if (source == nullptr) return kIllegalAddress;
      std::memcpy(to, source, bytes);
      return kSuccess;
    });
  });
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return call_in_context("cuMemcpyDtoDAsync", [&](DriverState& state) {
    if (state.memory(from, bytes) == nullptr || state.memory(to, bytes) == nullptr) return kInvalidValue;
    return enqueue(state, stream, [&state, to, from, bytes] {
      const std::byte* source = state.memory(from, bytes);
      std::byte* target = state.memory(to, bytes);
      if (source == nullptr || target == nullptr) return kIllegalAddress;
      std::memcpy(target, source, bytes);
      return kSuccess;
    });
  });
}

CUresult cuStreamCreate(CUstream* stream, unsigned) {
  return call_in_context("cuStreamCreate", [&](DriverState& state) {
    *stream = *state.streams.insert(new CUstream_st).first;
    return kSuccess;
  });
}
CUresult cuStreamDestroy_v2(CUstream stream) {
  return call("cuStreamDestroy", [&](DriverState& state) {
    state.finish(stream);
    for (Work& work : stream->work) {
      if (work.reaches != nullptr) work.reaches->done = true;
    }
    state.streams.erase(stream);
    delete stream;
    return kSuccess;
  });
}
CUresult cuStreamSynchronize(CUstream stream) {
  return call_in_context("cuStreamSynchronize", [&](DriverState& state) { return state.finish(stream); });
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  return call_in_context("cuStreamWaitEvent", [&](DriverState& state) {
    if (event->moment != nullptr && !event->moment->done) state.add(stream, {nullptr, nullptr, event->moment});
    return kSuccess;
  });
}
CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return call_in_context("cuEventCreate", [&](DriverState&) {
    *event = new CUevent_st{(flags & kEventDisableTiming) == 0, nullptr};
    return kSuccess;
  });
}
CUresult cuEventDestroy_v2(CUevent event) {
  return call("cuEventDestroy", [&](DriverState&) { return delete event, kSuccess; });
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  return call_in_context("cuEventRecord", [&](DriverState& state) {
    event->moment = std::make_shared<Moment>();
    state.add(stream, {nullptr, event->moment, nullptr});
    return kSuccess;
  });
}
CUresult cuEventSynchronize(CUevent event) {
  return call_in_context("cuEventSynchronize", [&](DriverState& state) {
    return event->moment == nullptr ? kSuccess : state.reach(*event->moment);
  });
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  constexpr CUresult kNotReady = 600;
  return call_in_context("cuEventElapsedTime", [&](DriverState&) {
    if (!begin->timed || !end->timed || begin->moment == nullptr || end->moment == nullptr) return kInvalidValue;
    if (!begin->moment->done || !end->moment->done) return kNotReady;
    *milliseconds = static_cast<float>(static_cast<double>(end->moment->time - begin->moment->time) / 1e6);
    return kSuccess;
  });
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return call_in_context("cuModuleLoadData", [&](DriverState&) {
    auto made = std::make_unique<CUmod_st>();
    CUresult code = read_image(static_cast<const char*>(image), *made);
    if (code == kSuccess) *module = made.release();
    return code;
  });
}
CUresult cuModuleUnload(CUmodule module) {
  return call("cuModuleUnload", [&](DriverState&) { return delete module, kSuccess; });
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return call_in_context("cuModuleGetFunction", [&](DriverState&) {
    static std::map<std::pair<CUmodule, std::string>, std::unique_ptr<CUfunc_st>> functions;
    const auto* description = test::find_kernel(name, module->constants["K_VW"]);
    if (module->kernel != name || description == nullptr) return kNotFound;
    *function = (functions[{module, name}] = std::make_unique<CUfunc_st>(CUfunc_st{module, description})).get();
    return kSuccess;
  });
}
CUresult cuFuncGetAttribute(int* value, int, CUfunction) {
  return call_in_context("cuFuncGetAttribute", [&](DriverState& state) {
    auto lie = state.lies.find(kMaxThreadsPerBlock);
    *value = lie == state.lies.end() ? 1024 : lie->second;
    return kSuccess;
  });
}
CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void** params,
                        void** extra) {
  return call_in_context("cuLaunchKernel", [&](DriverState& state) {
    KernelLaunch launch;
    CUresult code = KernelLaunch::make(
        {function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, params, extra}, launch);
    if (code != kSuccess) return code;
    return enqueue(state, stream, [&state, launch] { return launch.run(state); });
  });
}

CUresult cuGraphCreate(CUgraph* graph, unsigned) {
  return call_in_context("cuGraphCreate", [&](DriverState&) { return *graph = new CUgraph_st, kSuccess; });
}
CUresult cuGraphDestroy(CUgraph graph) {
  return call("cuGraphDestroy", [&](DriverState&) { return delete graph, kSuccess; });
}
CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before, size_t number,
                              const KernelNodeParams* params) {
  return call_in_context("cuGraphAddKernelNode", [&](DriverState&) {
    auto made = std::make_unique<CUgraphNode_st>();
    CUresult code = KernelLaunch::make(*params, made->launch);
    if (code != kSuccess) return code;
    made->before.assign(before, before + number);
    *node = made.get();
    graph->nodes.push_back(std::move(made));
    return kSuccess;
  });
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long) {
  return call_in_context("cuGraphInstantiate", [&](DriverState&) {
    *exec = new CUgraphExec_st;
    for (const auto& node : graph->nodes) (*exec)->nodes[node.get()] = *node;
    return kSuccess;
  });
}
CUresult cuGraphExecDestroy(CUgraphExec exec) {
  return call("cuGraphExecDestroy", [&](DriverState&) { return delete exec, kSuccess; });
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node, const KernelNodeParams* params) {
  return call_in_context("cuGraphExecKernelNodeSetParams", [&](DriverState&) {
    KernelLaunch launch;
    CUresult code = KernelLaunch::make(*params, launch);
    if (code == kSuccess) exec->nodes.at(node).launch = std::move(launch);
    return code;
  });
}
CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  return call_in_context("cuGraphLaunch", [&](DriverState& state) {
    for (const KernelLaunch& launch : order_of(*exec)) {
      enqueue(state, stream, [&state, launch] { return launch.run(state); });
    }
    return kSuccess;
  });
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
void standin_enqueue(void* stream, void (*work)(void*), void* data) {
  DriverState& state = DriverState::get();
  std::lock_guard lock(state.mutex);
  enqueue(state, static_cast<CUstream>(stream), [work, data] { return work(data), kSuccess; });
}
void* standin_memory(uint64_t address, uint64_t bytes) { return DriverState::get().memory(address, bytes); }

}  // extern "C"

}  // namespace ortolan::gpu::cuda
