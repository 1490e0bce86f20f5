// Finds the API level that runtime and library share; turns statuses into exceptions.
#include "host.h"

#include <algorithm>
#include <cstdlib>

namespace ortolan::example {
namespace {

constexpr int kOldestLevel = 22;  // the first with plugin libraries

/** The middle number of a release such as "1.30.0" is its API level. */
int level_of(const std::string& release) {
  size_t point = release.find('.');
  return point == std::string::npos ? 0 : std::atoi(release.c_str() + point + 1);
}

}  // namespace

Host connect(const OrtApiBase* base, const OrtLogger* logger) {
  int level = std::min(level_of(base->GetVersionString()), ORT_API_VERSION);
  if (const char* cap = std::getenv("ORT_EXAMPLE_EP_API")) level = std::min(level, std::atoi(cap));
  const OrtApi* api = level >= kOldestLevel ? base->GetApi(static_cast<uint32_t>(level)) : nullptr;
  if (!api) fail(ORT_FAIL, "the example provider needs API level 22 or newer");
  return {api, api->GetEpApi(), logger, static_cast<uint32_t>(level)};
}

void fail(OrtErrorCode code, std::string text) { throw Failure{code, std::move(text)}; }

void check(const Host& host, OrtStatus* status) {
  if (!status) return;
  Failure failure{host.api->GetErrorCode(status), host.api->GetErrorMessage(status)};
  host.api->ReleaseStatus(status);
  throw failure;
}

void log(const Host& host, OrtLoggingLevel severity, const std::string& line) {
  OrtStatus* status = host.api->Logger_LogMessage(host.logger, severity, line.c_str(), ORT_FILE, __LINE__, __func__);
  host.api->ReleaseStatus(status);
}

}  // namespace ortolan::example
