// The runtime that loaded this library: its function tables, and statuses as exceptions.
#pragma once

#include <exception>
#include <string>

#include "gpu/device/error.h"
#include "onnxruntime_c_api.h"

namespace ortolan::gpu::epkit {

/** What CreateEpFactories received. Copied by whoever needs it; the tables live as long as the runtime. */
struct Host {
  const OrtApi* api = nullptr;
  const OrtEpApi* ep = nullptr;
  const OrtLogger* logger = nullptr;
  uint32_t level = 0;      // of the API: what both sides know. Nothing newer may be called or filled in.
  bool is_ortolan = true;  // not the official library, some of whose operators know no devices but its own

  bool has(uint32_t wanted) const { return level >= wanted; }
};

/** The oldest level that a provider works with. It has devices that a plugin makes up, as drivers show more than
 * runtimes find; and the kernels that copy, without which the official library hands tensors on the CPU to nodes on a
 * device. */
inline constexpr uint32_t kOldestLevel = 24;

/** The newest level that the runtime and this library know, at most that in the variable ORTOLAN_EP_API. Throws Failure
 *  where it is below kOldestLevel. */
Host connect(const OrtApiBase* base, const OrtLogger* logger);

/** What goes wrong at the ABI is thrown as this, and crosses it as a status. */
struct Failure {
  OrtErrorCode code;
  std::string text;
};

[[noreturn]] void fail(OrtErrorCode code, std::string text);

/** Throws what a function of the runtime reports, and releases the status. */
void check(const Host& host, OrtStatus* status);

/** Writes a line to the runtime's log. */
void log(const Host& host, OrtLoggingLevel severity, const std::string& line);

OrtErrorCode code_of(ErrorKind kind);

/** Every function that the runtime calls runs its body in here: no exception may leave this library. */
template <class Body>
OrtStatus* guard(const Host& host, Body&& body) noexcept {
  try {
    body();
    return nullptr;
  } catch (const Failure& failure) {
    return host.api->CreateStatus(failure.code, failure.text.c_str());
  } catch (const Error& error) {
    return host.api->CreateStatus(code_of(error.kind()), error.what());
  } catch (const std::bad_alloc&) {
    return host.api->CreateStatus(ORT_FAIL, "the host has no memory left");
  } catch (const std::exception& error) {
    return host.api->CreateStatus(ORT_FAIL, error.what());
  }
}

}  // namespace ortolan::gpu::epkit
