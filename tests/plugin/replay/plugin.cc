// The example's two providers, made to take random nodes of any kind, which they rebuild as models and run on the CPU.
// The first stays on the example's device, whose memory the host cannot touch; the second works in ordinary memory.
// Which nodes is decided by the session entries ep.<provider>.seed and ep.<provider>.share (percent).
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "example/claims.h"
#include "example/factory.h"
#include "rebuilt_group.h"

extern "C" {
// The example's own functions, which the build has renamed.
OrtStatus* ExampleCreateEpFactories(const char*, const OrtApiBase*, const OrtLogger*, OrtEpFactory**, size_t, size_t*);
OrtStatus* ExampleReleaseEpFactory(OrtEpFactory*);
}

namespace ortolan::replay {
namespace {

using example::check;
using example::Factory;
using example::guard;
using example::Host;

/** What this plugin knows of a provider beside what the example does. */
struct Choice {
  Factory* factory;
  uint64_t seed;
  uint64_t share;
};
std::mutex lock;
std::map<const OrtEp*, Choice> choices;

OrtEpFactory real_factory;

Choice choice_of(const OrtEp* ep) {
  std::lock_guard guard(lock);
  return choices.at(ep);
}

uint64_t read_entry(const Factory& factory, const OrtSessionOptions* options, const char* key, uint64_t otherwise) {
  const Host& host = factory.host();
  std::string name = "ep." + factory.name() + "." + key;
  for (char& letter : name) letter = static_cast<char>(std::tolower(letter));
  int has = 0;
  check(host, host.api->HasSessionConfigEntry(options, name.c_str(), &has));
  if (!has) return otherwise;
  char value[32];
  size_t size = sizeof value;
  check(host, host.api->GetSessionConfigEntry(options, name.c_str(), value, &size));
  return std::strtoull(value, nullptr, 10);
}

uint64_t mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

OrtStatus* get_capability(OrtEp* self, const OrtGraph* graph, OrtEpGraphSupportInfo* support) {
  Choice choice = choice_of(self);
  const Host& host = choice.factory->host();
  return guard(host, [&] {
    OrtNodeFusionOptions fusion{};
    fusion.ort_version_supported = host.level;
    fusion.drop_constant_initializers = choice.seed % 2 == 1;
    auto is_wanted = [&](const OrtNode* node) {
      size_t id = 0;
      check(host, host.api->Node_GetId(node, &id));
      return mix(choice.seed * 1000003 + id) % 100 < choice.share && can_rebuild(host, node);
    };
    for (const auto& nodes : example::connected_groups(host, graph, is_wanted)) {
      check(host, host.ep->EpGraphSupportInfo_AddNodesToFuse(support, nodes.data(), nodes.size(), &fusion));
    }
  });
}

void release_infos(OrtEp*, OrtNodeComputeInfo** infos, size_t count) {
  for (size_t i = 0; i < count; i++) delete static_cast<RebuiltGroup*>(infos[i]);
}

OrtStatus* compile(OrtEp* self, const OrtGraph** graphs, const OrtNode** fused_nodes, size_t count,
                   OrtNodeComputeInfo** infos, OrtNode**) {
  Factory& factory = *choice_of(self).factory;
  return guard(factory.host(), [&] {
    std::fill(infos, infos + count, nullptr);
    try {
      for (size_t i = 0; i < count; i++) {
        infos[i] = new RebuiltGroup(factory.host(), factory.device(), graphs[i], fused_nodes[i]);
      }
    } catch (...) {
      release_infos(self, infos, count);
      std::fill(infos, infos + count, nullptr);
      throw;
    }
  });
}

bool is_on_host(const Factory& factory) { return factory.path() == example::Path::kKernels; }

OrtStatus* create_ep(OrtEpFactory* self, const OrtHardwareDevice* const* devices,
                     const OrtKeyValuePairs* const* metadata, size_t count, const OrtSessionOptions* options,
                     const OrtLogger* logger, OrtEp** out) {
  if (OrtStatus* status = real_factory.CreateEp(self, devices, metadata, count, options, logger, out)) return status;
  auto& factory = *static_cast<Factory*>(self);
  return guard(factory.host(), [&] {
    OrtEp* ep = *out;
    ep->GetCapability = get_capability;
    ep->Compile = compile;
    ep->ReleaseNodeComputeInfos = release_infos;
    if (is_on_host(factory)) {
      ep->GetKernelRegistry = nullptr;
      ep->CreateAllocator = nullptr;
      ep->CreateSyncStreamForDevice = nullptr;
      ep->GetDefaultMemoryDevice = nullptr;
    }
    std::lock_guard guard(lock);
    choices[ep] = {&factory, read_entry(factory, options, "seed", 1), read_entry(factory, options, "share", 60)};
  });
}

void release_ep(OrtEpFactory* self, OrtEp* ep) {
  {
    std::lock_guard guard(lock);
    choices.erase(ep);
  }
  real_factory.ReleaseEp(self, ep);
}

void alter(Factory& factory) {
  real_factory = factory;
  factory.CreateEp = create_ep;
  factory.ReleaseEp = release_ep;
  if (!is_on_host(factory)) return;
  factory.CreateDataTransfer = [](OrtEpFactory*, OrtDataTransferImpl** out) -> OrtStatus* {
    *out = nullptr;
    return nullptr;
  };
  factory.IsStreamAware = [](const OrtEpFactory*) { return false; };
}

// The second provider has no memory of its own: what the example says of it is kept back.
OrtEpApi altered_ep_api;
OrtApi altered_api;
OrtApiBase altered_base;
const OrtApi* api;

OrtStatus* add_allocator_info(OrtEpDevice* device, const OrtMemoryInfo* info) noexcept {
  const char* name = nullptr;
  if (OrtStatus* status = api->MemoryInfoGetName(info, &name)) return status;
  if (std::strstr(name, "Kernel")) return nullptr;
  return api->GetEpApi()->EpDevice_AddAllocatorInfo(device, info);
}

const OrtApiBase* alter_tables(const OrtApiBase* base) {
  api = base->GetApi(ORT_API_VERSION);
  altered_ep_api = *api->GetEpApi();
  altered_ep_api.EpDevice_AddAllocatorInfo = add_allocator_info;
  altered_api = *api;
  altered_api.GetEpApi = [] { return static_cast<const OrtEpApi*>(&altered_ep_api); };
  altered_base = *base;
  altered_base.GetApi = [](uint32_t) noexcept { return static_cast<const OrtApi*>(&altered_api); };
  return &altered_base;
}

/** Adds a line to the file that the variable REPLAY_REPORT names. */
void report() {
  const char* path = std::getenv("REPLAY_REPORT");
  std::FILE* file = path ? std::fopen(path, "a") : nullptr;
  if (!file) return;
  std::fprintf(file, "%lld groups of %lld nodes ran %lld times\n", static_cast<long long>(tally().groups),
               static_cast<long long>(tally().nodes), static_cast<long long>(tally().runs));
  std::fclose(file);
}

}  // namespace
}  // namespace ortolan::replay

using namespace ortolan::replay;

extern "C" {

ORT_EXPORT OrtStatus* CreateEpFactories(const char* name, const OrtApiBase* base, const OrtLogger* logger,
                                        OrtEpFactory** factories, size_t room, size_t* count) {
  OrtStatus* status = ExampleCreateEpFactories(name, alter_tables(base), logger, factories, room, count);
  for (size_t i = 0; !status && i < *count; i++) alter(*static_cast<Factory*>(factories[i]));
  return status;
}

ORT_EXPORT OrtStatus* ReleaseEpFactory(OrtEpFactory* factory) {
  if (!is_on_host(*static_cast<Factory*>(factory))) report();
  return ExampleReleaseEpFactory(factory);
}

}  // extern "C"
