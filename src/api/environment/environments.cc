// The environment: one for the process, counted; its logger, its allocators and the notices that it takes.
#include "api/environment/environments.h"

#include <mutex>

#include "api/arguments.h"
#include "api/environment/allocators.h"
#include "api/guard.h"
#include "api/providers/absent_providers.h"
#include "tensor/arena.h"

namespace ortolan::api {
namespace {

using runtime::Environment;

/** The process's environment while there is one. Never destroyed: programs may end without releasing it. */
struct Holder {
  std::mutex mutex;
  std::shared_ptr<Environment> environment;
  size_t references = 0;
};
Holder& holder() {
  static auto* holder = new Holder;
  return *holder;
}

class FunctionSink : public base::LogSink {
 public:
  FunctionSink(OrtLoggingFunction function, void* param) : function_(function), param_(param) {}
  void write(base::Severity severity, std::string_view log_id, std::string_view where, std::string_view text) override {
    function_(param_, static_cast<OrtLoggingLevel>(severity), "onnxruntime", std::string(log_id).c_str(),
              std::string(where).c_str(), std::string(text).c_str());
  }

 private:
  OrtLoggingFunction function_;
  void* param_;
};

/** One more reference to the environment; the first makes it from these arguments, later ones share it as it is. */
OrtStatus* create_env(OrtLoggingLevel level, const char* logid, std::shared_ptr<base::LogSink> sink,
                      const OrtThreadingOptions* threads, OrtEnv** out,
                      const OrtKeyValuePairs* config = nullptr) noexcept {
  return guard([&] {
    require_argument(out, "out");
    Holder& process = holder();
    std::lock_guard lock(process.mutex);
    if (process.environment == nullptr) {
      base::Logger logger(std::move(sink), logid == nullptr ? "" : logid, severity_from_api(level));
      auto environment = std::make_shared<Environment>(std::move(logger));
      if (threads != nullptr) environment->create_global_pools(*unwrap_optional(threads));
      if (config != nullptr) environment->set_config(*unwrap_optional(config));
      process.environment = std::move(environment);
    }
    ++process.references;
    *out = wrap<OrtEnv>(process.environment.get());
  });
}

/** An allocator for CPU memory of that kind, for sessions to share. */
std::shared_ptr<Allocator> make_cpu_allocator(const MemoryInfo& memory, const ArenaOptions& options) {
  require(memory.device == Device{}, ErrorCode::kInvalidArgument,
          "allocators of the environment are made for CPU memory, not for '", memory.name, "'");
  if (memory.allocator_type != OrtArenaAllocator) return cpu_allocator();
  return std::make_shared<Arena>(options);
}

}  // namespace

std::shared_ptr<Environment> environment_of(const OrtEnv* env) {
  return const_cast<Environment&>(unwrap(env, "env")).shared_from_this();
}

std::shared_ptr<Environment> current_environment() {
  std::lock_guard lock(holder().mutex);
  return holder().environment;
}

std::shared_ptr<base::LogSink> sink_for(OrtLoggingFunction function, void* param) {
  if (function == nullptr) return base::stderr_sink();
  return std::make_shared<FunctionSink>(function, param);
}

base::Severity severity_from_api(int level) {
  require(level >= ORT_LOGGING_LEVEL_VERBOSE && level <= ORT_LOGGING_LEVEL_FATAL, ErrorCode::kInvalidArgument,
          "logging level ", level, " is outside [0, 4]");
  return static_cast<base::Severity>(level);
}

OrtStatus* ORT_API_CALL CreateEnv(OrtLoggingLevel level, const char* logid, OrtEnv** out) noexcept {
  return create_env(level, logid, base::stderr_sink(), nullptr, out);
}

OrtStatus* ORT_API_CALL CreateEnvWithCustomLogger(OrtLoggingFunction function, void* param, OrtLoggingLevel level,
                                                  const char* logid, OrtEnv** out) noexcept {
  return create_env(level, logid, sink_for(function, param), nullptr, out);
}

OrtStatus* ORT_API_CALL CreateEnvWithGlobalThreadPools(OrtLoggingLevel level, const char* logid,
                                                       const OrtThreadingOptions* tp_options, OrtEnv** out) noexcept {
  return create_env(level, logid, base::stderr_sink(), tp_options, out);
}

OrtStatus* ORT_API_CALL CreateEnvWithCustomLoggerAndGlobalThreadPools(OrtLoggingFunction function, void* param,
                                                                      OrtLoggingLevel level, const char* logid,
                                                                      const OrtThreadingOptions* tp_options,
                                                                      OrtEnv** out) noexcept {
  return create_env(level, logid, sink_for(function, param), tp_options, out);
}

OrtStatus* ORT_API_CALL CreateEnvWithOptions(const OrtEnvCreationOptions* options, OrtEnv** out) noexcept {
  if (OrtStatus* status = guard([&] { require_argument(options, "options"); })) return status;
  return create_env(static_cast<OrtLoggingLevel>(options->logging_severity_level), options->log_id,
                    sink_for(options->custom_logging_function, options->custom_logging_param),
                    options->threading_options, out, options->config_entries);
}

void ORT_API_CALL ReleaseEnv(OrtEnv* env) noexcept {
  if (env == nullptr) return;
  Holder& process = holder();
  std::shared_ptr<Environment> last;
  std::lock_guard lock(process.mutex);
  if (process.references != 0 && --process.references == 0) last = std::move(process.environment);
}

OrtStatus* ORT_API_CALL UpdateEnvWithCustomLogLevel(OrtEnv* env, OrtLoggingLevel level) noexcept {
  return guard([&] { unwrap(env, "ort_env").set_severity(severity_from_api(level)); });
}

// Nothing is measured or sent, so there is nothing to switch.
OrtStatus* ORT_API_CALL EnableTelemetryEvents(const OrtEnv* env) noexcept {
  return guard([&] { unwrap(env, "env"); });
}
OrtStatus* ORT_API_CALL DisableTelemetryEvents(const OrtEnv* env) noexcept {
  return guard([&] { unwrap(env, "env"); });
}
OrtStatus* ORT_API_CALL SetLanguageProjection(const OrtEnv* env, OrtLanguageProjection) noexcept {
  return guard([&] { unwrap(env, "ort_env"); });
}

OrtStatus* ORT_API_CALL CreateAndRegisterAllocator(OrtEnv* env, const OrtMemoryInfo* mem_info,
                                                   const OrtArenaCfg* arena_cfg) noexcept {
  return guard([&] {
    Environment& environment = unwrap(env, "env");
    const ArenaOptions* options = unwrap_optional(arena_cfg);
    environment.register_allocator(
        make_cpu_allocator(unwrap(mem_info, "mem_info"), options != nullptr ? *options : ArenaOptions{}));
  });
}

OrtStatus* ORT_API_CALL CreateAndRegisterAllocatorV2(OrtEnv* env, const char* provider_type,
                                                     const OrtMemoryInfo* mem_info, const OrtArenaCfg* arena_cfg,
                                                     const char* const*, const char* const*, size_t) noexcept {
  OrtStatus* status = guard([&] {
    std::string_view type = text(provider_type, "provider_type");
    if (type != "CPUExecutionProvider") fail_absent_provider(type);
  });
  return status != nullptr ? status : CreateAndRegisterAllocator(env, mem_info, arena_cfg);
}

OrtStatus* ORT_API_CALL RegisterAllocator(OrtEnv* env, OrtAllocator* allocator) noexcept {
  return guard([&] { unwrap(env, "env").register_allocator(core_allocator(allocator)); });
}

OrtStatus* ORT_API_CALL UnregisterAllocator(OrtEnv* env, const OrtMemoryInfo* mem_info) noexcept {
  return guard([&] {
    const MemoryInfo& memory = unwrap(mem_info, "mem_info");
    require(unwrap(env, "env").unregister_allocator(memory), ErrorCode::kInvalidArgument,
            "no allocator is registered for memory '", memory.name, "' on device ", memory.device.id);
  });
}

OrtStatus* ORT_API_CALL CreateArenaCfg(size_t max_mem, int arena_extend_strategy, int initial_chunk_size_bytes,
                                       int max_dead_bytes_per_chunk, OrtArenaCfg** out) noexcept {
  return guard([&] {
    give(out, ArenaOptions{.limit = max_mem,
                           .extend_strategy = arena_extend_strategy,
                           .initial_region = initial_chunk_size_bytes,
                           .max_dead_bytes = max_dead_bytes_per_chunk});
  });
}

OrtStatus* ORT_API_CALL CreateArenaCfgV2(const char* const* arena_config_keys, const size_t* arena_config_values,
                                         size_t num_keys, OrtArenaCfg** out) noexcept {
  return guard([&] {
    auto keys = array(arena_config_keys, num_keys, "arena_config_keys");
    auto values = array(arena_config_values, num_keys, "arena_config_values");
    ArenaOptions options;
    for (size_t i = 0; i < num_keys; ++i) set_option(options, text(keys[i], "arena_config_keys[i]"), values[i]);
    give(out, options);
  });
}

void ORT_API_CALL ReleaseArenaCfg(OrtArenaCfg* options) noexcept { release(options); }

}  // namespace ortolan::api
