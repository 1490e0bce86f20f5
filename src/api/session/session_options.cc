// Session options: modes, threads, logging, files, config entries.
#include "runtime/session/session_options.h"

#include "api/arguments.h"
#include "api/environment/environments.h"
#include "api/guard.h"
#include "api/session/session_entry.h"
#include "base/key_values.h"

namespace ortolan::api {
namespace {

using runtime::SessionOptions;

/** The config entry of that key; throws kInvalidArgument for NULL arguments and an empty key. */
std::string checked_key(const char* key) {
  std::string name = text(key, "config_key");
  require(!name.empty(), ErrorCode::kInvalidArgument, "config_key is empty");
  return name;
}

}  // namespace

OrtStatus* ORT_API_CALL CreateSessionOptions(OrtSessionOptions** out) noexcept {
  return guard([&] { give(out, SessionOptions{}, "options"); });
}

OrtStatus* ORT_API_CALL CloneSessionOptions(const OrtSessionOptions* in_options, OrtSessionOptions** out) noexcept {
  return guard([&] {
    SessionOptions copy = unwrap(in_options, "in_options");
    copy.cancel_load = std::make_shared<std::atomic<bool>>(copy.cancel_load->load());
    give(out, std::move(copy), "out_options");
  });
}

void ORT_API_CALL ReleaseSessionOptions(OrtSessionOptions* options) noexcept { release(options); }

OrtStatus* ORT_API_CALL SetOptimizedModelFilePath(OrtSessionOptions* options, const char* path) noexcept {
  return guard([&] { unwrap(options, "options").optimized_model_path = text(path, "optimized_model_filepath"); });
}

OrtStatus* ORT_API_CALL SetSessionExecutionMode(OrtSessionOptions* options, ExecutionMode mode) noexcept {
  return guard([&] {
    SessionOptions& core = unwrap(options, "options");
    require(mode == ORT_SEQUENTIAL || mode == ORT_PARALLEL, ErrorCode::kInvalidArgument, "execution mode ",
            static_cast<int>(mode), " is neither ORT_SEQUENTIAL (0) nor ORT_PARALLEL (1)");
    core.mode = static_cast<runtime::ExecutionMode>(mode);
  });
}

OrtStatus* ORT_API_CALL GetSessionExecutionMode(const OrtSessionOptions* options, ExecutionMode* out) noexcept {
  return guard([&] { put(out, unwrap(options, "options").mode); });
}

OrtStatus* ORT_API_CALL EnableProfiling(OrtSessionOptions* options, const char* profile_file_prefix) noexcept {
  return guard([&] {
    unwrap(options, "options").profile_prefix = text(profile_file_prefix, "profile_file_prefix");
    unwrap(options, "options").profile = true;
  });
}

OrtStatus* ORT_API_CALL DisableProfiling(OrtSessionOptions* options) noexcept {
  return guard([&] { unwrap(options, "options").profile = false; });
}

OrtStatus* ORT_API_CALL EnableMemPattern(OrtSessionOptions* options) noexcept {
  return guard([&] { unwrap(options, "options").memory_pattern = true; });
}

OrtStatus* ORT_API_CALL DisableMemPattern(OrtSessionOptions* options) noexcept {
  return guard([&] { unwrap(options, "options").memory_pattern = false; });
}

OrtStatus* ORT_API_CALL GetMemPatternEnabled(const OrtSessionOptions* options, int* out) noexcept {
  return guard([&] { put(out, unwrap(options, "options").memory_pattern); });
}

OrtStatus* ORT_API_CALL EnableCpuMemArena(OrtSessionOptions* options) noexcept {
  return guard([&] { unwrap(options, "options").cpu_arena = true; });
}

OrtStatus* ORT_API_CALL DisableCpuMemArena(OrtSessionOptions* options) noexcept {
  return guard([&] { unwrap(options, "options").cpu_arena = false; });
}

OrtStatus* ORT_API_CALL SetSessionLogId(OrtSessionOptions* options, const char* logid) noexcept {
  return guard([&] { unwrap(options, "options").log_id = logid == nullptr ? "" : logid; });
}

OrtStatus* ORT_API_CALL SetSessionLogVerbosityLevel(OrtSessionOptions* options, int level) noexcept {
  return guard([&] { unwrap(options, "options").log_verbosity = level; });
}

OrtStatus* ORT_API_CALL SetSessionLogSeverityLevel(OrtSessionOptions* options, int level) noexcept {
  return guard([&] {
    SessionOptions& core = unwrap(options, "options");
    core.log_severity = level < 0 ? -1 : static_cast<int>(severity_from_api(level));
  });
}

OrtStatus* ORT_API_CALL SetUserLoggingFunction(OrtSessionOptions* options, OrtLoggingFunction user_logging_function,
                                               void* user_logging_param) noexcept {
  return guard([&] { unwrap(options, "options").log_sink = sink_for(user_logging_function, user_logging_param); });
}

OrtStatus* ORT_API_CALL SetSessionGraphOptimizationLevel(OrtSessionOptions* options,
                                                         GraphOptimizationLevel level) noexcept {
  return guard([&] {
    SessionOptions& core = unwrap(options, "options");
    bool known = (level >= ORT_DISABLE_ALL && level <= ORT_ENABLE_LAYOUT) || level == ORT_ENABLE_ALL;
    require(known, ErrorCode::kInvalidArgument, "graph optimization level ", static_cast<int>(level),
            " is none of 0, 1, 2, 3 and 99");
    core.level = static_cast<runtime::RewriteLevel>(level);
  });
}

OrtStatus* ORT_API_CALL SetIntraOpNumThreads(OrtSessionOptions* options, int threads) noexcept {
  return guard([&] { unwrap(options, "options").intra_op_threads = std::max(threads, 0); });
}

OrtStatus* ORT_API_CALL SetInterOpNumThreads(OrtSessionOptions* options, int threads) noexcept {
  return guard([&] { unwrap(options, "options").inter_op_threads = std::max(threads, 0); });
}

OrtStatus* ORT_API_CALL DisablePerSessionThreads(OrtSessionOptions* options) noexcept {
  return guard([&] { unwrap(options, "options").use_global_threads = true; });
}

OrtStatus* ORT_API_CALL SessionOptionsSetCustomCreateThreadFn(OrtSessionOptions* options,
                                                              OrtCustomCreateThreadFn create) noexcept {
  return guard([&] {
    unwrap(options, "options").thread_hooks.hooks.create = wrap_function<decltype(base::ThreadHooks::create)>(create);
  });
}

OrtStatus* ORT_API_CALL SessionOptionsSetCustomThreadCreationOptions(OrtSessionOptions* options,
                                                                     void* creation) noexcept {
  return guard([&] { unwrap(options, "options").thread_hooks.hooks.options = creation; });
}

OrtStatus* ORT_API_CALL SessionOptionsSetCustomJoinThreadFn(OrtSessionOptions* options,
                                                            OrtCustomJoinThreadFn join) noexcept {
  return guard([&] {
    unwrap(options, "options").thread_hooks.hooks.join = wrap_function<decltype(base::ThreadHooks::join)>(join);
  });
}

OrtStatus* ORT_API_CALL SetDeterministicCompute(OrtSessionOptions* options, bool value) noexcept {
  return guard([&] { unwrap(options, "options").deterministic = value; });
}

OrtStatus* ORT_API_CALL SessionOptionsSetLoadCancellationFlag(OrtSessionOptions* options, bool cancel) noexcept {
  return guard([&] { *unwrap(options, "options").cancel_load = cancel; });
}

OrtStatus* ORT_API_CALL AddSessionConfigEntry(OrtSessionOptions* options, const char* key, const char* value) noexcept {
  return guard([&] {
    auto& core = unwrap(options, "options");
    set_session_entry(core, text(key, "config_key"), text(value, "config_value"));
  });
}

OrtStatus* ORT_API_CALL HasSessionConfigEntry(const OrtSessionOptions* options, const char* key, int* out) noexcept {
  return guard([&] { put(out, unwrap(options, "options").config.contains(checked_key(key))); });
}

OrtStatus* ORT_API_CALL GetSessionConfigEntry(const OrtSessionOptions* options, const char* key, char* config_value,
                                              size_t* size) noexcept {
  return guard([&] {
    const auto& config = unwrap(options, "options").config;
    auto found = config.find(checked_key(key));
    require(found != config.end(), ErrorCode::kFail, "the session options have no config entry '", key, "'");
    fill_text(found->second, config_value, size);
  });
}

OrtStatus* ORT_API_CALL GetSessionOptionsConfigEntries(const OrtSessionOptions* options,
                                                       OrtKeyValuePairs** out) noexcept {
  return guard([&] {
    base::KeyValues entries;
    for (const auto& [key, value] : unwrap(options, "options").config) entries.set(key, value);
    give(out, std::move(entries));
  });
}

}  // namespace ortolan::api
