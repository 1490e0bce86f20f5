// The status object of the API.
#pragma once

#include <string_view>

#include "onnxruntime_c_api.h"

namespace ortolan::api {

/** A new status, for ReleaseStatus to free. Never NULL: without memory it is a shared one that says so. */
OrtStatus* make_status(OrtErrorCode code, std::string_view text) noexcept;

/** Throws what the status says, and frees it. */
[[noreturn]] void throw_status(OrtStatus* status);

/** Throws when a callback of the caller's gave a status that is not NULL. */
inline void check_status(OrtStatus* status) {
  if (status != nullptr) throw_status(status);
}

}  // namespace ortolan::api
