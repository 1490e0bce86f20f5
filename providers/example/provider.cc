// The functions of OrtEp, each for the API levels that know it.
#include "provider.h"

#include <cstring>

#include "claims.h"
#include "compiled_group.h"
#include "profiler.h"
#include "stream.h"

namespace ortolan::example {
namespace {

Provider& provider_of(OrtEp* self) { return *static_cast<Provider*>(self); }

}  // namespace

Provider::Provider(const Host& host, Factory& factory, const Options& options)
    : OrtEp{}, host_(host), factory_(factory), options_(options), gather_(options.gather), registry_(host) {
  set_functions();
  // A runtime moves tensors to and from the device with the provider's own copying kernels, also for compiled nodes.
  if (host_.has(24)) add_copy_kernels(registry_, *this);
  if (host_.has(24) && factory_.path() == Path::kKernels) add_compute_kernels(registry_, *this);
}

void Provider::set_functions() {
  ort_version_supported = host_.level;
  GetName = get_name;
  GetCapability = get_capability;  // the official library calls it also where the level is 22
  if (!host_.has(23)) return;
  if (factory_.path() == Path::kCompile) {
    Compile = compile;
    ReleaseNodeComputeInfos = release_infos;
  }
  SetDynamicOptions = set_dynamic_options;
  OnRunStart = on_run_start;
  OnRunEnd = on_run_end;
  CreateAllocator = create_allocator;
  CreateSyncStreamForDevice = create_stream;
  if (!host_.has(24)) return;
  GetKernelRegistry = get_kernel_registry;
  IsConcurrentRunSupported = is_concurrent_run_supported;
  if (!host_.has(25)) return;
  Sync = sync;
  CreateProfiler = create_profiler;
  if (!host_.has(27)) return;
  OnSessionInitializationEnd = on_initialization_end;
  GetDefaultMemoryDevice = get_default_memory_device;
}

const char* ORT_API_CALL Provider::get_name(const OrtEp* self) noexcept {
  return static_cast<const Provider*>(self)->name().c_str();
}

OrtStatus* ORT_API_CALL Provider::get_capability(OrtEp* self, const OrtGraph* graph,
                                                 OrtEpGraphSupportInfo* support) noexcept {
  Provider& provider = provider_of(self);
  return guard(provider.host_, [&] {
    if (!provider.host_.has(23)) return;  // it has no functions to read graphs
    if (provider.factory_.path() == Path::kCompile) {
      claim_groups(provider.host_, provider.options_, graph, support);
    } else if (provider.host_.has(24)) {
      claim_nodes_with_kernels(provider.host_, graph, support);
    }
  });
}

OrtStatus* ORT_API_CALL Provider::compile(OrtEp* self, const OrtGraph** graphs, const OrtNode** fused_nodes,
                                          size_t count, OrtNodeComputeInfo** infos, OrtNode**) noexcept {
  Provider& provider = provider_of(self);
  return guard(provider.host_, [&] {
    for (size_t i = 0; i < count; i++) infos[i] = nullptr;
    try {
      for (size_t i = 0; i < count; i++) {
        infos[i] = new CompiledGroup(provider.host_, provider.device(), graphs[i], fused_nodes[i]);
      }
    } catch (...) {
      release_infos(self, infos, count);  // the runtime takes all of them or none
      for (size_t i = 0; i < count; i++) infos[i] = nullptr;
      throw;
    }
  });
}

void ORT_API_CALL Provider::release_infos(OrtEp*, OrtNodeComputeInfo** infos, size_t count) noexcept {
  for (size_t i = 0; i < count; i++) delete static_cast<CompiledGroup*>(infos[i]);
}

OrtStatus* ORT_API_CALL Provider::set_dynamic_options(OrtEp* self, const char* const* keys, const char* const* values,
                                                      size_t count) noexcept {
  Provider& provider = provider_of(self);
  return guard(provider.host_, [&] {
    for (size_t i = 0; i < count; i++) {
      note(Event::kDynamicOption);
      if (std::strcmp(keys[i], "gather") != 0) {
        fail(ORT_INVALID_ARGUMENT, std::string("option ") + keys[i] + " cannot change while a session lives");
      }
      provider.gather_ = static_cast<int>(parse_number(keys[i], values[i]));
    }
  });
}

OrtStatus* ORT_API_CALL Provider::on_run_start(OrtEp*, const OrtRunOptions*) noexcept {
  note(Event::kRunStart);
  return nullptr;
}

OrtStatus* ORT_API_CALL Provider::on_run_end(OrtEp* self, const OrtRunOptions*, bool wait) noexcept {
  note(Event::kRunEnd);
  Provider& provider = provider_of(self);
  return guard(provider.host_, [&] {
    if (wait) provider.device().finish();
  });
}

OrtStatus* ORT_API_CALL Provider::create_allocator(OrtEp* self, const OrtMemoryInfo* memory,
                                                   OrtAllocator** allocator) noexcept {
  Provider& provider = provider_of(self);
  return guard(provider.host_,
               [&] { *allocator = provider.factory_.create_allocator(memory, provider.options_.memory_limit); });
}

OrtStatus* ORT_API_CALL Provider::create_stream(OrtEp* self, const OrtMemoryDevice*,
                                                OrtSyncStreamImpl** stream) noexcept {
  Provider& provider = provider_of(self);
  return guard(provider.host_, [&] { *stream = new Stream(provider.host_, provider.device(), provider.gather_); });
}

OrtStatus* ORT_API_CALL Provider::get_kernel_registry(OrtEp* self, const OrtKernelRegistry** registry) noexcept {
  *registry = provider_of(self).registry_.get();
  return nullptr;
}

OrtStatus* ORT_API_CALL Provider::is_concurrent_run_supported(OrtEp*, bool* supported) noexcept {
  *supported = true;
  return nullptr;
}

OrtStatus* ORT_API_CALL Provider::sync(OrtEp* self) noexcept {
  Provider& provider = provider_of(self);
  return guard(provider.host_, [&] { provider.device().finish(); });
}

OrtStatus* ORT_API_CALL Provider::create_profiler(OrtEp* self, OrtEpProfilerImpl** profiler) noexcept {
  Provider& provider = provider_of(self);
  return guard(provider.host_, [&] { *profiler = new Profiler(provider.host_, provider.name()); });
}

OrtStatus* ORT_API_CALL Provider::on_initialization_end(OrtEp*) noexcept {
  note(Event::kInitializationEnd);
  return nullptr;
}

OrtStatus* ORT_API_CALL Provider::get_default_memory_device(const OrtEp* self,
                                                            const OrtMemoryDevice** device) noexcept {
  *device = static_cast<const Provider*>(self)->factory_.memory_device();
  return nullptr;
}

}  // namespace ortolan::example
