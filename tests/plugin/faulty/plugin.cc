// The example plugin with one fault in it, which the variable ORT_FAULT names. Objects come from the example; on their
// way to the runtime, members of them are replaced.
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "example/counters.h"
#include "faults.h"
#include "ortolan_ep.h"
#include "short_structs.h"

extern "C" {
// The example's own functions, which the build has renamed.
OrtStatus* ExampleCreateEpFactories(const char*, const OrtApiBase*, const OrtLogger*, OrtEpFactory**, size_t, size_t*);
OrtStatus* ExampleReleaseEpFactory(OrtEpFactory*);
}

namespace ortolan::faulty {

const OrtApi* api = nullptr;

namespace {

bool chosen(const char* name) {
  const char* wanted = std::getenv("ORT_FAULT");
  return wanted && std::strcmp(wanted, name) == 0;
}

template <class Struct, size_t kCount>
void apply(const Fault<Struct> (&faults)[kCount], Struct* object) {
  for (const Fault<Struct>& fault : faults) {
    if (object && chosen(fault.name)) fault.install(*object);
  }
}

// The example's own members; both of its factories and providers have the same.
OrtEpFactory real_factory;
OrtEp real_provider;
OrtSyncStreamImpl real_stream;

template <class Object, class... Arguments>
OrtStatus* make(OrtStatus* status, Object** out, void (*alter)(Object*)) {
  if (!status && out && *out) alter(*out);
  return status;
}

OrtStatus* create_notification(OrtSyncStreamImpl* self, OrtSyncNotificationImpl** out) {
  return make<OrtSyncNotificationImpl>(real_stream.CreateNotification(self, out), out,
                                       [](OrtSyncNotificationImpl* made) { apply(kNotificationFaults, made); });
}

void alter_stream(OrtSyncStreamImpl* stream) {
  real_stream = *stream;
  stream->CreateNotification = create_notification;
  apply(kStreamFaults, stream);
}

void alter_allocator(OrtAllocator* allocator) { apply(kAllocatorFaults, allocator); }

OrtStatus* compile(OrtEp* self, const OrtGraph** graphs, const OrtNode** nodes, size_t count,
                   OrtNodeComputeInfo** infos, OrtNode** contexts) {
  OrtStatus* status = real_provider.Compile(self, graphs, nodes, count, infos, contexts);
  for (size_t i = 0; !status && i < count; i++) apply(kComputeInfoFaults, infos[i]);
  if (!status && chosen("Compile:null info")) {
    real_provider.ReleaseNodeComputeInfos(self, infos, 1);
    infos[0] = nullptr;
  }
  return status;
}

/** Claims that make no sense. */
OrtStatus* get_capability(OrtEp* self, const OrtGraph* graph, OrtEpGraphSupportInfo* support) {
  size_t count = 0;
  if (OrtStatus* status = api->Graph_GetNumNodes(graph, &count)) return status;
  static std::vector<const OrtNode*> earlier;
  std::vector<const OrtNode*> nodes(count);
  if (OrtStatus* status = api->Graph_GetNodes(graph, nodes.data(), count)) return status;
  if (chosen("Claims:no connection") && count >= 3) {
    const OrtNode* ends[] = {nodes.front(), nodes.back()};  // one needs the other, by way of the nodes between
    return api->GetEpApi()->EpGraphSupportInfo_AddNodesToFuse(support, ends, 2, nullptr);
  }
  if (chosen("Claims:twice")) {
    for (int i = 0; i < 2; i++) {
      if (OrtStatus* status = real_provider.GetCapability(self, graph, support)) return status;
    }
    return nullptr;
  }
  if (!earlier.empty() && chosen("Claims:other graph?")) {
    const OrtNode* same[] = {nodes[0], nodes[0]};
    return api->GetEpApi()->EpGraphSupportInfo_AddNodesToFuse(support, same, 2, nullptr);
  }
  earlier = nodes;
  return real_provider.GetCapability(self, graph, support);
}

OrtStatus* ep_create_allocator(OrtEp* self, const OrtMemoryInfo* info, OrtAllocator** out) {
  return make(real_provider.CreateAllocator(self, info, out), out, alter_allocator);
}

OrtStatus* ep_create_stream(OrtEp* self, const OrtMemoryDevice* device, OrtSyncStreamImpl** out) {
  return make(real_provider.CreateSyncStreamForDevice(self, device, out), out, alter_stream);
}

OrtStatus* create_profiler(OrtEp* self, OrtEpProfilerImpl** out) {
  return make<OrtEpProfilerImpl>(real_provider.CreateProfiler(self, out), out,
                                 [](OrtEpProfilerImpl* made) { apply(kProfilerFaults, made); });
}

OrtStatus* create_ep(OrtEpFactory* self, const OrtHardwareDevice* const* devices,
                     const OrtKeyValuePairs* const* metadata, size_t count, const OrtSessionOptions* options,
                     const OrtLogger* logger, OrtEp** out) {
  OrtStatus* status = real_factory.CreateEp(self, devices, metadata, count, options, logger, out);
  if (status) return status;
  OrtEp* ep = *out;
  real_provider = *ep;
  if (ep->Compile) ep->Compile = compile;
  ep->GetCapability = get_capability;
  ep->CreateAllocator = ep_create_allocator;
  ep->CreateSyncStreamForDevice = ep_create_stream;
  ep->CreateProfiler = create_profiler;
  apply(kProviderFaults, ep);
  if (chosen("Ep:short struct?")) *out = shorten(ep);
  return nullptr;
}

void release_ep(OrtEpFactory* self, OrtEp* ep) { real_factory.ReleaseEp(self, original(ep)); }

OrtStatus* get_supported_devices(OrtEpFactory* self, const OrtHardwareDevice* const* devices, size_t num_devices,
                                 OrtEpDevice** out, size_t room, size_t* count) {
  OrtStatus* status = real_factory.GetSupportedDevices(self, devices, num_devices, out, room, count);
  if (status) return status;
  if (chosen("Devices:too many")) *count = room + 100;
  if (chosen("Devices:null device")) {
    api->GetEpApi()->ReleaseEpDevice(out[0]);
    out[0] = nullptr;
  }
  return nullptr;
}

OrtStatus* create_allocator(OrtEpFactory* self, const OrtMemoryInfo* info, const OrtKeyValuePairs* options,
                            OrtAllocator** out) {
  return make(real_factory.CreateAllocator(self, info, options, out), out, alter_allocator);
}

OrtStatus* create_transfer(OrtEpFactory* self, OrtDataTransferImpl** out) {
  return make<OrtDataTransferImpl>(real_factory.CreateDataTransfer(self, out), out,
                                   [](OrtDataTransferImpl* made) { apply(kTransferFaults, made); });
}

OrtStatus* create_stream(OrtEpFactory* self, const OrtMemoryDevice* device, const OrtKeyValuePairs* options,
                         OrtSyncStreamImpl** out) {
  return make(real_factory.CreateSyncStreamForDevice(self, device, options, out), out, alter_stream);
}

void alter_factory(OrtEpFactory* factory) {
  real_factory = *factory;
  factory->CreateEp = create_ep;
  factory->ReleaseEp = release_ep;
  factory->GetSupportedDevices = get_supported_devices;
  factory->CreateAllocator = create_allocator;
  factory->CreateDataTransfer = create_transfer;
  factory->CreateSyncStreamForDevice = create_stream;
  apply(kFactoryFaults, factory);
}

// Kernels are made by functions that the example gives to the runtime: it gets a table in which that passes by here.
struct Maker {
  OrtKernelCreateFunc function;
  void* state;
};

OrtStatus* make_kernel(void* state, const OrtKernelInfo* info, OrtKernelImpl** out) {
  if (chosen("Kernel:create status")) return injected();
  *out = nullptr;
  if (chosen("Kernel:create null")) return nullptr;
  auto& maker = *static_cast<Maker*>(state);
  return make<OrtKernelImpl>(maker.function(maker.state, info, out), out,
                             [](OrtKernelImpl* made) { apply(kKernelFaults, made); });
}

OrtStatus* add_kernel(OrtKernelRegistry* registry, const OrtKernelDef* definition, OrtKernelCreateFunc function,
                      void* state) noexcept {
  static std::deque<Maker> makers;
  makers.push_back({function, state});
  return api->GetEpApi()->KernelRegistry_AddKernel(registry, definition, make_kernel, &makers.back());
}

OrtEpApi altered_ep_api;
OrtApi altered_api;
OrtApiBase altered_base;

const OrtApiBase* alter_tables(const OrtApiBase* base) {
  api = base->GetApi(ORT_API_VERSION);
  altered_ep_api = *api->GetEpApi();
  altered_ep_api.KernelRegistry_AddKernel = add_kernel;
  altered_api = *api;
  altered_api.GetEpApi = [] { return static_cast<const OrtEpApi*>(&altered_ep_api); };
  altered_base = *base;
  altered_base.GetApi = [](uint32_t) noexcept { return static_cast<const OrtApi*>(&altered_api); };
  return &altered_base;
}

}  // namespace
}  // namespace ortolan::faulty

using namespace ortolan::faulty;

extern "C" {

ORT_EXPORT OrtStatus* CreateEpFactories(const char* name, const OrtApiBase* base, const OrtLogger* logger,
                                        OrtEpFactory** factories, size_t room, size_t* count) {
  const OrtApiBase* altered = alter_tables(base);
  if (chosen("Library:status")) return injected();
  *count = 0;
  if (chosen("Library:no factories?")) return nullptr;
  if (chosen("Factory:short struct?")) {
    factories[0] = short_factory();
    *count = 1;
    return nullptr;
  }
  OrtStatus* status = ExampleCreateEpFactories(name, altered, logger, factories, room, count);
  for (size_t i = 0; !status && i < *count; i++) alter_factory(factories[i]);
  if (chosen("Library:too many factories")) *count = room + 100;
  if (chosen("Library:null factory")) {
    api->ReleaseStatus(ExampleReleaseEpFactory(factories[1]));
    factories[1] = nullptr;
  }
  return status;
}

ORT_EXPORT OrtStatus* ReleaseEpFactory(OrtEpFactory* factory) {
  if (is_short(factory)) return nullptr;
  OrtStatus* status = ExampleReleaseEpFactory(factory);
  return chosen("Library:release status?") ? injected() : status;
}

ORT_EXPORT const char* ORT_API_CALL GetEpRefusalReason(const OrtEp*, const OrtNode*) {
  if (chosen("Refusal:null?")) return nullptr;
  return chosen("Refusal:empty?") ? "" : chosen("Refusal:no text?") ? "\xff\n\"" : "the example has no kernel for it";
}

/** The example's counters. */
ORT_EXPORT ortolan::example::Counters* FaultCounters() { return &ortolan::example::counters(); }

/** The names of all faults, NULL at the end. */
ORT_EXPORT const char* const* FaultNames() {
  static std::vector<const char*> names;
  if (!names.empty()) return names.data();
  auto add = [](const auto& faults) {
    for (const auto& fault : faults) names.push_back(fault.name);
  };
  add(kFactoryFaults), add(kProviderFaults), add(kComputeInfoFaults), add(kKernelFaults), add(kAllocatorFaults);
  add(kTransferFaults), add(kStreamFaults), add(kNotificationFaults), add(kProfilerFaults);
  for (const char* name : kLibraryFaults) names.push_back(name);
  names.push_back(nullptr);
  return names.data();
}

}  // extern "C"
