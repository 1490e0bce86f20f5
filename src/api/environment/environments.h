// The environment behind an OrtEnv, and logging to the caller's function.
#pragma once

#include <memory>

#include "base/log.h"
#include "onnxruntime_c_api.h"
#include "runtime/environment.h"

namespace ortolan::api {

/** The environment, kept alive by the result. Throws when it is NULL. */
std::shared_ptr<runtime::Environment> environment_of(const OrtEnv* env);

/** The process's environment; NULL while there is none. */
std::shared_ptr<runtime::Environment> current_environment();

/** A sink that calls the function; stderr's when it is NULL. */
std::shared_ptr<base::LogSink> sink_for(OrtLoggingFunction function, void* param);

/** A severity level of the caller's; throws when it is none. */
base::Severity severity_from_api(int level);

}  // namespace ortolan::api
