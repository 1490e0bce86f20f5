// The status object of the API.
#pragma once

#include <string_view>

#include "onnxruntime_c_api.h"

namespace ortolan::api {

/** A new status, for ReleaseStatus to free. Never NULL: without memory it is a shared one that says so. */
OrtStatus* make_status(OrtErrorCode code, std::string_view text) noexcept;

}  // namespace ortolan::api
