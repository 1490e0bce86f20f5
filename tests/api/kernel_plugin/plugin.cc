// A plugin provider for tests of kernel registries, whose device tells in its metadata where the counters are.
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "device.h"
#include "kernels.h"

namespace kernel_plugin {
namespace {

/** Adds one event to each profile, which says how many events of the runtime it saw. */
struct Profiler : OrtEpProfilerImpl {
  std::atomic<int> seen{0};

  Profiler() : OrtEpProfilerImpl{} {
    ort_version_supported = ORT_API_VERSION;
    ++counters.profilers;
    Release = [](OrtEpProfilerImpl* self) noexcept {
      --counters.profilers;
      delete static_cast<Profiler*>(self);
    };
    StartProfiling = [](OrtEpProfilerImpl*, int64_t offset) noexcept -> OrtStatusPtr {
      if (offset < 0) ++counters.misplaced;
      return nullptr;
    };
    StartEvent = [](OrtEpProfilerImpl*, uint64_t) noexcept -> OrtStatusPtr {
      ++counters.events_begun;
      return nullptr;
    };
    StopEvent = [](OrtEpProfilerImpl* self, uint64_t, const OrtProfilingEvent* event) noexcept -> OrtStatusPtr {
      const char* name = nullptr;
      TRY(ep_api->ProfilingEvent_GetName(event, &name));
      if (std::strstr(name, "Add_node") != nullptr) ++static_cast<Profiler*>(self)->seen;
      ++counters.events_ended;
      return nullptr;
    };
    EndProfiling = [](OrtEpProfilerImpl* self, OrtProfilingEventsContainer* container) noexcept -> OrtStatusPtr {
      std::string seen = std::to_string(static_cast<Profiler*>(self)->seen.load());
      const char *key = "adds_seen", *value = seen.c_str();
      OrtProfilingEvent* event = nullptr;
      TRY(ep_api->CreateProfilingEvent(OrtProfilingEventCategory_KERNEL, 1, 2, "kernel_test_event", 3, 4, &key, &value,
                                       1, &event));
      OrtStatus* status = ep_api->ProfilingEventsContainer_AddEvents(container, &event, 1);
      ep_api->ReleaseProfilingEvent(event);
      return status;
    };
  }
};

struct Provider : OrtEp {
  OrtKernelRegistry* registry = nullptr;

  Provider() : OrtEp{} {
    ort_version_supported = ORT_API_VERSION;
    GetName = [](const OrtEp*) noexcept -> const char* { return kName; };
    GetCapability = [](OrtEp*, const OrtGraph* graph, OrtEpGraphSupportInfo* support) noexcept -> OrtStatusPtr {
      size_t count = 0;
      TRY(api->Graph_GetNumNodes(graph, &count));
      std::vector<const OrtNode*> nodes(count);
      TRY(api->Graph_GetNodes(graph, nodes.data(), count));
      for (const OrtNode* node : nodes) {
        const OrtKernelDef* def = nullptr;
        TRY(ep_api->EpGraphSupportInfo_LookUpKernel(support, node, &def));
        if (def != nullptr) TRY(ep_api->EpGraphSupportInfo_AddSingleNode(support, node));
      }
      return nullptr;
    };
    CreateProfiler = [](OrtEp*, OrtEpProfilerImpl** out) noexcept -> OrtStatusPtr {
      *out = new Profiler;
      return nullptr;
    };
    GetKernelRegistry = [](OrtEp* self, const OrtKernelRegistry** out) noexcept -> OrtStatusPtr {
      *out = static_cast<Provider*>(self)->registry;
      return nullptr;
    };
  }
  ~Provider() { ep_api->ReleaseKernelRegistry(registry); }

  OrtStatus* add_kernels() {
    TRY(ep_api->CreateKernelRegistry(&registry));
    return kernel_plugin::add_kernels(registry);
  }
};

struct Allocator : OrtAllocator {
  const OrtMemoryInfo* memory;
  explicit Allocator(const OrtMemoryInfo* memory) : OrtAllocator{}, memory(memory) {
    version = ORT_API_VERSION;
    Alloc = [](OrtAllocator*, size_t bytes) noexcept { return device().allocate(bytes); };
    Free = [](OrtAllocator*, void*) noexcept {};
    Info = [](const OrtAllocator* self) noexcept { return static_cast<const Allocator*>(self)->memory; };
    Reserve = Alloc;
  }
};

struct Transfer : OrtDataTransferImpl {
  Transfer() : OrtDataTransferImpl{} {
    ort_version_supported = ORT_API_VERSION;
    Release = [](OrtDataTransferImpl* self) noexcept { delete static_cast<Transfer*>(self); };
    CanCopy = [](const OrtDataTransferImpl*, const OrtMemoryDevice* from, const OrtMemoryDevice* to) noexcept {
      auto known = [](const OrtMemoryDevice* memory) {
        return ep_api->MemoryDevice_GetDeviceType(memory) == OrtMemoryInfoDeviceType_CPU ||
               ep_api->MemoryDevice_GetVendorId(memory) == kVendor;
      };
      return known(from) && known(to);
    };
    CopyTensors = [](OrtDataTransferImpl*, const OrtValue** sources, OrtValue** targets, OrtSyncStream**,
                     size_t count) noexcept -> OrtStatusPtr {
      for (size_t i = 0; i < count; ++i) {
        View from, to;
        TRY(view_of(sources[i], &from));
        TRY(view_of(targets[i], &to));
        if (from.bytes != 0) std::memcpy(device().reach(to.data), device().reach(from.data), from.bytes);
      }
      return nullptr;
    };
  }
  static constexpr uint32_t kVendor = 0x4B54;
};

struct Factory : OrtEpFactory {
  OrtMemoryInfo* memory = nullptr;
  OrtHardwareDevice* hardware = nullptr;

  Factory() : OrtEpFactory{} {
    ort_version_supported = ORT_API_VERSION;
    GetName = [](const OrtEpFactory*) noexcept { return kName; };
    GetVendor = [](const OrtEpFactory*) noexcept -> const char* { return "Ortolan tests"; };
    GetVendorId = [](const OrtEpFactory*) noexcept { return Transfer::kVendor; };
    GetVersion = [](const OrtEpFactory*) noexcept -> const char* { return "1.0.0"; };
    GetSupportedDevices = [](OrtEpFactory* self, const OrtHardwareDevice* const*, size_t, OrtEpDevice** devices, size_t,
                             size_t* count) noexcept -> OrtStatusPtr {
      return static_cast<Factory*>(self)->show_device(devices, count);
    };
    CreateEp = [](OrtEpFactory*, const OrtHardwareDevice* const*, const OrtKeyValuePairs* const*, size_t,
                  const OrtSessionOptions*, const OrtLogger*, OrtEp** out) noexcept -> OrtStatusPtr {
      auto provider = std::make_unique<Provider>();
      TRY(provider->add_kernels());
      *out = provider.release();
      return nullptr;
    };
    ReleaseEp = [](OrtEpFactory*, OrtEp* ep) noexcept { delete static_cast<Provider*>(ep); };
    CreateAllocator = [](OrtEpFactory*, const OrtMemoryInfo* info, const OrtKeyValuePairs*,
                         OrtAllocator** out) noexcept -> OrtStatusPtr {
      *out = new Allocator(info);
      return nullptr;
    };
    ReleaseAllocator = [](OrtEpFactory*, OrtAllocator* allocator) noexcept {
      delete static_cast<Allocator*>(allocator);
    };
    CreateDataTransfer = [](OrtEpFactory*, OrtDataTransferImpl** out) noexcept -> OrtStatusPtr {
      *out = new Transfer;
      return nullptr;
    };
    IsStreamAware = [](const OrtEpFactory*) noexcept { return false; };
  }
  ~Factory() {
    api->ReleaseMemoryInfo(memory);
    ep_api->ReleaseHardwareDevice(hardware);
  }

  OrtStatus* show_device(OrtEpDevice** devices, size_t* count) {
    *count = 0;
    if (hardware == nullptr) {
      TRY(api->CreateMemoryInfo_V2("KernelTest", OrtMemoryInfoDeviceType_GPU, Transfer::kVendor, 0,
                                   OrtDeviceMemoryType_DEFAULT, 256, OrtDeviceAllocator, &memory));
      TRY(ep_api->CreateHardwareDevice(OrtHardwareDeviceType_GPU, Transfer::kVendor, 0, "Ortolan tests", nullptr,
                                       &hardware));
    }
    OrtKeyValuePairs* metadata = nullptr;
    api->CreateKeyValuePairs(&metadata);
    api->AddKeyValuePair(metadata, kKernelCountersKey, std::to_string(reinterpret_cast<uintptr_t>(&counters)).c_str());
    OrtStatus* status = ep_api->CreateEpDevice(this, hardware, metadata, nullptr, &devices[0]);
    api->ReleaseKeyValuePairs(metadata);
    if (status == nullptr) status = ep_api->EpDevice_AddAllocatorInfo(devices[0], memory);
    *count = status == nullptr ? 1 : 0;
    return status;
  }
};

}  // namespace

extern "C" {
ORT_EXPORT OrtStatus* CreateEpFactories(const char*, const OrtApiBase* base, const OrtLogger*, OrtEpFactory** factories,
                                        size_t, size_t* num_factories) {
  api = base->GetApi(ORT_API_VERSION);
  ep_api = api->GetEpApi();
  factories[0] = new Factory;
  *num_factories = 1;
  return nullptr;
}

ORT_EXPORT OrtStatus* ReleaseEpFactory(OrtEpFactory* factory) {
  delete static_cast<Factory*>(factory);
  return nullptr;
}
}

}  // namespace kernel_plugin
