// The runtime that loaded this library: its function tables, and statuses as exceptions.
#pragma once

#include <exception>
#include <string>

#include "onnxruntime_c_api.h"

namespace ortolan::example {

/** What CreateEpFactories received. Copied by whoever needs it; the tables live as long as the runtime. */
struct Host {
  const OrtApi* api;
  const OrtEpApi* ep;
  const OrtLogger* logger;
  uint32_t level;  // of the API: what both sides know. Nothing newer may be called or filled in.

  bool has(uint32_t wanted) const { return level >= wanted; }
};

/** The newest level that the runtime and this library know, at most that in the variable ORT_EXAMPLE_EP_API. Throws
 *  Failure when there is none. */
Host connect(const OrtApiBase* base, const OrtLogger* logger);

/** What goes wrong inside is thrown as this, and crosses the ABI as a status. */
struct Failure {
  OrtErrorCode code;
  std::string text;
};

[[noreturn]] void fail(OrtErrorCode code, std::string text);

/** Throws what a function of the runtime reports, and releases the status. */
void check(const Host& host, OrtStatus* status);

/** Writes a line to the runtime's log. */
void log(const Host& host, OrtLoggingLevel severity, const std::string& line);

/** Every function that the runtime calls runs its body in here: no exception may leave this library. */
template <class Body>
OrtStatus* guard(const Host& host, Body&& body) noexcept {
  try {
    body();
    return nullptr;
  } catch (const Failure& failure) {
    return host.api->CreateStatus(failure.code, failure.text.c_str());
  } catch (const std::exception& error) {
    return host.api->CreateStatus(ORT_FAIL, error.what());
  }
}

}  // namespace ortolan::example
