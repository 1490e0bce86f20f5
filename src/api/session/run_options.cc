// Run options.
#include "api/arguments.h"
#include "api/environment/environments.h"
#include "api/guard.h"
#include "runtime/session/session_options.h"

namespace ortolan::api {

OrtStatus* ORT_API_CALL CreateRunOptions(OrtRunOptions** out) noexcept {
  return guard([&] {
    require_argument(out, "out");
    *out = wrap<OrtRunOptions>(std::make_unique<runtime::RunOptions>());
  });
}

void ORT_API_CALL ReleaseRunOptions(OrtRunOptions* options) noexcept { release(options); }

OrtStatus* ORT_API_CALL RunOptionsSetRunLogVerbosityLevel(OrtRunOptions* options, int level) noexcept {
  return guard([&] { unwrap(options, "options").log_verbosity = level; });
}

OrtStatus* ORT_API_CALL RunOptionsSetRunLogSeverityLevel(OrtRunOptions* options, int level) noexcept {
  return guard(
      [&] { unwrap(options, "options").log_severity = level < 0 ? -1 : static_cast<int>(severity_from_api(level)); });
}

OrtStatus* ORT_API_CALL RunOptionsSetRunTag(OrtRunOptions* options, const char* run_tag) noexcept {
  return guard([&] { unwrap(options, "options").tag = run_tag == nullptr ? "" : run_tag; });
}

OrtStatus* ORT_API_CALL RunOptionsGetRunLogVerbosityLevel(const OrtRunOptions* options, int* level) noexcept {
  return guard([&] { put(level, unwrap(options, "options").log_verbosity, "log_verbosity_level"); });
}

OrtStatus* ORT_API_CALL RunOptionsGetRunLogSeverityLevel(const OrtRunOptions* options, int* level) noexcept {
  return guard([&] { put(level, unwrap(options, "options").log_severity, "log_severity_level"); });
}

OrtStatus* ORT_API_CALL RunOptionsGetRunTag(const OrtRunOptions* options, const char** run_tag) noexcept {
  return guard([&] { put(run_tag, unwrap(options, "options").tag.c_str(), "run_tag"); });
}

OrtStatus* ORT_API_CALL RunOptionsSetTerminate(OrtRunOptions* options) noexcept {
  return guard([&] { unwrap(options, "options").terminate = true; });
}

OrtStatus* ORT_API_CALL RunOptionsUnsetTerminate(OrtRunOptions* options) noexcept {
  return guard([&] { unwrap(options, "options").terminate = false; });
}

OrtStatus* ORT_API_CALL AddRunConfigEntry(OrtRunOptions* options, const char* key, const char* value) noexcept {
  return guard([&] {
    std::string name = text(key, "config_key");
    require(!name.empty(), ErrorCode::kInvalidArgument, "config_key is empty");
    unwrap(options, "options").config[name] = text(value, "config_value");
  });
}

const char* ORT_API_CALL GetRunConfigEntry(const OrtRunOptions* options, const char* key) noexcept {
  if (options == nullptr || key == nullptr) return nullptr;
  const auto& config = unwrap_optional(options)->config;
  auto found = config.find(key);
  return found == config.end() ? nullptr : found->second.c_str();
}

OrtStatus* ORT_API_CALL RunOptionsEnableProfiling(OrtRunOptions* options, const char* profile_file_prefix) noexcept {
  return guard([&] {
    unwrap(options, "options").profile_prefix = text(profile_file_prefix, "profile_file_prefix");
    unwrap(options, "options").profile = true;
  });
}

OrtStatus* ORT_API_CALL RunOptionsDisableProfiling(OrtRunOptions* options) noexcept {
  return guard([&] { unwrap(options, "options").profile = false; });
}

}  // namespace ortolan::api
