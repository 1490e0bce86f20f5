// The early form of the flat API: objects with counted owners, provider factories, and early names.
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "api/guard.h"
#include "api/handles.h"
#include "api/plugins/ep_selection.h"
#include "api/providers/absent_providers.h"
#include "api/providers/bundled_providers.h"
#include "api/tables/tables.h"
#include "ortolan.h"

namespace ortolan::api {
namespace {

/** Objects that early programs may give to OrtReleaseObject, with how to end each. An object that ends by another
    function leaves a stale entry, which the next object at that address replaces. */
class EarlyObjects {
 public:
  using End = void (*)(void*);

  /** Never destroyed: programs may release objects while the process ends. */
  static EarlyObjects& instance() {
    static EarlyObjects* const objects = new EarlyObjects;
    return *objects;
  }

  /** A new object; without memory to note it, it is ended. */
  void add(void* object, End end) {
    std::unique_ptr<void, End> owner(object, end);
    std::lock_guard lock(mutex_);
    entries_[object] = Entry{1, 0, end};
    owner.release();
  }

  /** An object that counts its creations itself, as the environment does: each is ended once. */
  void add_creation(void* object, End end) {
    std::unique_ptr<void, End> owner(object, end);
    std::lock_guard lock(mutex_);
    Entry& entry = entries_[object];
    ++entry.creations;
    entry.end = end;
    owner.release();
  }

  uint32_t add_owner(void* object) {
    std::lock_guard lock(mutex_);
    auto found = entries_.find(object);
    return found == entries_.end() ? 0 : found->second.creations + ++found->second.more_owners;
  }

  uint32_t remove_owner(void* object) {
    std::unique_lock lock(mutex_);
    auto found = entries_.find(object);
    if (found == entries_.end()) {
      return 0;
    }
    Entry& entry = found->second;
    if (entry.more_owners > 0) {
      return entry.creations + --entry.more_owners;
    }
    const uint32_t left = --entry.creations;
    const End end = entry.end;
    if (left == 0) {
      entries_.erase(found);
    }
    lock.unlock();
    end(object);
    return left;
  }

 private:
  struct Entry {
    uint32_t creations = 0;
    uint32_t more_owners = 0;
    End end = nullptr;
  };
  std::mutex mutex_;
  std::map<void*, Entry> entries_;
};

/** A factory of a provider. Programs see the first member only. */
struct ProviderFactory {
  const OrtProviderFactoryInterface* methods;
  int number;                // the CPU's: whether it has an arena; others': the device
  const char* name = "CPU";  // of a bundled provider
};

OrtStatus* ORT_API_CALL append_cpu(void* factory, OrtSessionOptions* options) {
  return OrtSessionOptionsAppendExecutionProvider_CPU(options, static_cast<ProviderFactory*>(factory)->number);
}

OrtStatus* ORT_API_CALL append_plugin(void* object, OrtSessionOptions* options) {
  const auto& factory = *static_cast<ProviderFactory*>(object);
  return guard([&] { append_bundled(unwrap(options, "options"), factory.name, {}, factory.number); });
}

OrtStatus* ORT_API_CALL append_cuda_device(void* factory, OrtSessionOptions* options) {
  return OrtSessionOptionsAppendExecutionProvider_CUDA(options, static_cast<ProviderFactory*>(factory)->number);
}

constexpr OrtObject kCounted{[](void* object) { return OrtAddRefToObject(object); },
                             [](void* object) { return OrtReleaseObject(object); }};
constexpr OrtProviderFactoryInterface kCpuMethods{kCounted, append_cpu};
constexpr OrtProviderFactoryInterface kPluginMethods{kCounted, append_plugin};
constexpr OrtProviderFactoryInterface kCudaMethods{kCounted, append_cuda_device};

OrtStatus* create_factory(const ProviderFactory& made, OrtProviderFactoryInterface*** out) noexcept {
  return guard([&] {
    require_argument(out, "out");
    *out = nullptr;
    const BundledProvider* bundled = find_bundled(made.name);
    if (bundled != nullptr && !is_here(*bundled)) fail_absent_provider(made.name);
    auto* factory = new ProviderFactory(made);
    EarlyObjects::instance().add(factory, [](void* object) { delete static_cast<ProviderFactory*>(object); });
    *out = const_cast<OrtProviderFactoryInterface**>(&factory->methods);
  });
}

/** Notes an environment that a slot has just created; without memory for that, ends it. */
OrtStatus* note_env(OrtStatus* created, OrtEnv** out) noexcept {
  if (created != nullptr) {
    return created;
  }
  return guard([&] {
    OrtEnv* env = std::exchange(*out, nullptr);
    EarlyObjects::instance().add_creation(env,
                                          [](void* object) { ort_api().ReleaseEnv(static_cast<OrtEnv*>(object)); });
    *out = env;
  });
}

/** Creates options through their slot; NULL when that fails. */
template <class Options, class Create>
Options* create_options(Create create, EarlyObjects::End end) noexcept {
  Options* options = nullptr;
  if (OrtStatus* status = create(&options)) {
    ReleaseStatus(status);
    return nullptr;
  }
  return guard_or<Options*>(nullptr, [&] {
    EarlyObjects::instance().add(options, end);
    return options;
  });
}

}  // namespace
}  // namespace ortolan::api

using namespace ortolan::api;

uint32_t ORT_API_CALL OrtAddRefToObject(void* object) noexcept {
  return guard_or<uint32_t>(0, [&] { return EarlyObjects::instance().add_owner(object); });
}

uint32_t ORT_API_CALL OrtReleaseObject(void* object) noexcept {
  return guard_or<uint32_t>(0, [&] { return EarlyObjects::instance().remove_owner(object); });
}

OrtStatus* ORT_API_CALL OrtInitialize(OrtLoggingLevel level, const char* logid, OrtEnv** out) noexcept {
  return note_env(ort_api().CreateEnv(level, logid, out), out);
}

OrtStatus* ORT_API_CALL OrtInitializeWithCustomLogger(OrtLoggingFunction logging_function, void* logger_param,
                                                      OrtLoggingLevel level, const char* logid, OrtEnv** out) noexcept {
  return note_env(ort_api().CreateEnvWithCustomLogger(logging_function, logger_param, level, logid, out), out);
}

OrtSessionOptions* ORT_API_CALL OrtCreateSessionOptions(void) noexcept {
  return create_options<OrtSessionOptions>(ort_api().CreateSessionOptions, [](void* object) {
    ort_api().ReleaseSessionOptions(static_cast<OrtSessionOptions*>(object));
  });
}

OrtRunOptions* ORT_API_CALL OrtCreateRunOptions(void) noexcept {
  return create_options<OrtRunOptions>(ort_api().CreateRunOptions, [](void* object) {
    ort_api().ReleaseRunOptions(static_cast<OrtRunOptions*>(object));
  });
}

OrtStatus* ORT_API_CALL OrtCreateCpuExecutionProviderFactory(int use_arena,
                                                             OrtProviderFactoryInterface*** out) noexcept {
  return create_factory({&kCpuMethods, use_arena}, out);
}

OrtStatus* ORT_API_CALL OrtCreateCUDAExecutionProviderFactory(int device_id,
                                                              OrtProviderFactoryInterface*** out) noexcept {
  return create_factory({&kCudaMethods, device_id, "CUDA"}, out);
}

OrtStatus* ORT_API_CALL OrtCreateOpenCLExecutionProviderFactory(int device_id,
                                                                OrtProviderFactoryInterface*** out) noexcept {
  return create_factory({&kPluginMethods, device_id, "OpenCL"}, out);
}

OrtStatus* ORT_API_CALL OrtCreateVulkanExecutionProviderFactory(int device_id,
                                                                OrtProviderFactoryInterface*** out) noexcept {
  return create_factory({&kPluginMethods, device_id, "Vulkan"}, out);
}

OrtStatus* ORT_API_CALL OrtSessionOptionsAppendExecutionProvider(OrtSessionOptions* options,
                                                                 OrtProviderFactoryInterface** factory) noexcept {
  OrtStatus* status = guard([&] {
    require_argument(options, "options");
    require_argument(factory, "factory");
    require_argument(*factory, "*factory");
  });
  return status != nullptr ? status : (*factory)->AppendTo(factory, options);
}

OrtStatus* ORT_API_CALL OrtSessionOptionsAppendExecutionProviderByName(OrtSessionOptions* options, const char* name,
                                                                       const char* const* keys,
                                                                       const char* const* values,
                                                                       size_t count) noexcept {
  return ort_api().SessionOptionsAppendExecutionProvider(options, name, keys, values, count);
}

OrtStatus* ORT_API_CALL OrtCreateDefaultAllocator(OrtAllocator** out) noexcept {
  return ort_api().GetAllocatorWithDefaultOptions(out);
}

OrtStatus* ORT_API_CALL OrtCreateAllocatorInfo(const char* name, OrtAllocatorType type, int id, OrtMemType mem_type,
                                               OrtAllocatorInfo** out) noexcept {
  return ort_api().CreateMemoryInfo(name, type, id, mem_type, out);
}

OrtStatus* ORT_API_CALL OrtCreateCpuAllocatorInfo(OrtAllocatorType type, OrtMemType mem_type,
                                                  OrtAllocatorInfo** out) noexcept {
  return ort_api().CreateCpuMemoryInfo(type, mem_type, out);
}

void ORT_API_CALL OrtReleaseAllocatorInfo(OrtAllocatorInfo* info) noexcept { ort_api().ReleaseMemoryInfo(info); }

OrtStatus* ORT_API_CALL OrtGetTensorShapeAndType(const OrtValue* value, OrtTensorTypeAndShapeInfo** out) noexcept {
  return ort_api().GetTensorTypeAndShape(value, out);
}

OrtStatus* ORT_API_CALL OrtSetDims(OrtTensorTypeAndShapeInfo* info, const int64_t* dim_values,
                                   size_t dim_count) noexcept {
  return ort_api().SetDimensions(info, dim_values, dim_count);
}

size_t ORT_API_CALL OrtGetNumOfDimensions(const OrtTensorTypeAndShapeInfo* info) noexcept {
  size_t rank = 0;
  ReleaseStatus(ort_api().GetDimensionsCount(info, &rank));
  return rank;
}

OrtStatus* ORT_API_CALL OrtEnableSequentialExecution(OrtSessionOptions* options) noexcept {
  return ort_api().SetSessionExecutionMode(options, ORT_SEQUENTIAL);
}

OrtStatus* ORT_API_CALL OrtDisableSequentialExecution(OrtSessionOptions* options) noexcept {
  return ort_api().SetSessionExecutionMode(options, ORT_PARALLEL);
}

OrtStatus* ORT_API_CALL OrtSetSessionThreadPoolSize(OrtSessionOptions* options, int session_thread_pool_size) noexcept {
  return ort_api().SetIntraOpNumThreads(options, session_thread_pool_size);
}
