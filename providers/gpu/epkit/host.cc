// Finds the API level that runtime and library share; turns statuses into exceptions.
#include "gpu/epkit/host.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace ortolan::gpu::epkit {
namespace {

/** The middle number of a release such as "1.30.0" is its API level. */
int level_of(const std::string& release) {
  size_t point = release.find('.');
  return point == std::string::npos ? 0 : std::atoi(release.c_str() + point + 1);
}

}  // namespace

Host connect(const OrtApiBase* base, const OrtLogger* logger) {
  int level = std::min(level_of(base->GetVersionString()), ORT_API_VERSION);
  if (const char* cap = std::getenv("ORTOLAN_EP_API")) level = std::min(level, std::atoi(cap));
  bool is_known = level >= static_cast<int>(kOldestLevel);
  const OrtApi* api = is_known ? base->GetApi(static_cast<uint32_t>(level)) : nullptr;
  if (api == nullptr) {
    fail(ORT_FAIL, "the provider needs a runtime of API level " + std::to_string(kOldestLevel) + " or newer, " +
                       base->GetVersionString() + " offers it level " + std::to_string(level));
  }
  bool is_ortolan = std::strstr(api->GetBuildInfoString(), "Ortolan") != nullptr;
  return {api, api->GetEpApi(), logger, static_cast<uint32_t>(level), is_ortolan};
}

void fail(OrtErrorCode code, std::string text) { throw Failure{code, std::move(text)}; }

void check(const Host& host, OrtStatus* status) {
  if (status == nullptr) return;
  Failure failure{host.api->GetErrorCode(status), host.api->GetErrorMessage(status)};
  host.api->ReleaseStatus(status);
  throw failure;
}

void log(const Host& host, OrtLoggingLevel severity, const std::string& line) {
  OrtStatus* status = host.api->Logger_LogMessage(host.logger, severity, line.c_str(), ORT_FILE, __LINE__, __func__);
  host.api->ReleaseStatus(status);
}

OrtErrorCode code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalid:
      return ORT_INVALID_ARGUMENT;
    case ErrorKind::kInternal:
      return ORT_FAIL;
    default:
      return ORT_EP_FAIL;
  }
}

}  // namespace ortolan::gpu::epkit
