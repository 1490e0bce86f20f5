// The example, but for its two providers, which say that they are on one device. The memory of each is of no use to the
// other all the same.
#include "onnxruntime_c_api.h"

extern "C" {
// The example's own functions, which the build has renamed.
OrtStatus* ExampleCreateEpFactories(const char*, const OrtApiBase*, const OrtLogger*, OrtEpFactory**, size_t, size_t*);
OrtStatus* ExampleReleaseEpFactory(OrtEpFactory*);
}

namespace {

const OrtApi* api;
OrtApi altered_api;
OrtApiBase altered_base;

OrtStatus* create_memory_info(const char* name, OrtMemoryInfoDeviceType type, uint32_t vendor, int32_t,
                              OrtDeviceMemoryType memory, size_t alignment, OrtAllocatorType allocator,
                              OrtMemoryInfo** out) noexcept {
  return api->CreateMemoryInfo_V2(name, type, vendor, 0, memory, alignment, allocator, out);
}

const OrtApiBase* alter_tables(const OrtApiBase* base) {
  api = base->GetApi(ORT_API_VERSION);
  altered_api = *api;
  altered_api.CreateMemoryInfo_V2 = create_memory_info;
  altered_base = *base;
  altered_base.GetApi = [](uint32_t) noexcept { return static_cast<const OrtApi*>(&altered_api); };
  return &altered_base;
}

}  // namespace

extern "C" {

ORT_EXPORT OrtStatus* CreateEpFactories(const char* name, const OrtApiBase* base, const OrtLogger* logger,
                                        OrtEpFactory** factories, size_t room, size_t* count) {
  return ExampleCreateEpFactories(name, alter_tables(base), logger, factories, room, count);
}

ORT_EXPORT OrtStatus* ReleaseEpFactory(OrtEpFactory* factory) { return ExampleReleaseEpFactory(factory); }

}  // extern "C"
