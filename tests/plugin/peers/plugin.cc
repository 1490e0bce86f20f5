// A provider library that leaves most nodes: those named "make_" and the letter MARK are taken, each alone, where the
// library that the variable ORTOLAN_MARKED_<MARK> names takes them. All else is that library's.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "onnxruntime_c_api.h"

namespace {

constexpr char kMark[] = MARK;
const OrtApi* api;
OrtApi altered_api;
OrtEpApi altered_ep_api;
OrtApiBase altered_base;
ReleaseEpApiFactoryFn release_factory;

bool is_marked(const OrtNode* node) {
  const char* name = nullptr;
  api->ReleaseStatus(api->Node_GetName(node, &name));
  return name != nullptr && std::strncmp(name, "make_", 5) == 0 && name[5] == kMark[0];
}

OrtStatus* add_marked(OrtEpGraphSupportInfo* info, const OrtNode* const* nodes, size_t count,
                      const OrtNodeFusionOptions* options) noexcept {
  for (size_t i = 0; i < count; ++i) {
    if (!is_marked(nodes[i])) continue;
    if (OrtStatus* status = api->GetEpApi()->EpGraphSupportInfo_AddNodesToFuse(info, &nodes[i], 1, options)) {
      return status;
    }
  }
  return nullptr;
}

OrtStatus* add_if_marked(OrtEpGraphSupportInfo* info, const OrtNode* node) noexcept {
  return is_marked(node) ? api->GetEpApi()->EpGraphSupportInfo_AddSingleNode(info, node) : nullptr;
}

const OrtApiBase* alter_tables(const OrtApiBase* base) {
  api = base->GetApi(ORT_API_VERSION);
  altered_api = *api;
  altered_ep_api = *api->GetEpApi();
  altered_ep_api.EpGraphSupportInfo_AddNodesToFuse = add_marked;
  altered_ep_api.EpGraphSupportInfo_AddSingleNode = add_if_marked;
  altered_api.GetEpApi = []() noexcept { return static_cast<const OrtEpApi*>(&altered_ep_api); };
  altered_base = *base;
  altered_base.GetApi = [](uint32_t) noexcept { return static_cast<const OrtApi*>(&altered_api); };
  return &altered_base;
}

}  // namespace

extern "C" {

ORT_EXPORT OrtStatus* CreateEpFactories(const char* name, const OrtApiBase* base, const OrtLogger* logger,
                                        OrtEpFactory** factories, size_t room, size_t* count) {
  const OrtApiBase* altered = alter_tables(base);
  const char* path = std::getenv((std::string("ORTOLAN_MARKED_") + kMark).c_str());
  void* library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return api->CreateStatus(ORT_FAIL, path == nullptr ? "no library is named" : dlerror());
  auto create = reinterpret_cast<CreateEpApiFactoriesFn>(dlsym(library, "CreateEpFactories"));
  release_factory = reinterpret_cast<ReleaseEpApiFactoryFn>(dlsym(library, "ReleaseEpFactory"));
  return create(name, altered, logger, factories, room, count);
}

ORT_EXPORT OrtStatus* ReleaseEpFactory(OrtEpFactory* factory) { return release_factory(factory); }

}  // extern "C"
