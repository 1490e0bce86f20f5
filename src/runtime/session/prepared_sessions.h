// Sessions through the prepared model of the session entry ortolan.prepared_model_path.
#pragma once

#include <memory>
#include <string>

#include "runtime/session/session.h"

namespace ortolan::runtime {

/** Whether the options ask for it. */
bool wants_prepared_model(const SessionOptions& options);

/** A session from the prepared model that the options name, which is made first where it is not there, damaged, or was
    made of another state of the model, with other options or for another machine: a warning says which. NULL, after a
    warning, where the options ask for what a prepared model cannot have. */
std::unique_ptr<Session> session_by_prepared_model(const std::shared_ptr<Environment>& environment,
                                                   const std::string& model_path, const SessionOptions& options,
                                                   const Logger& logger);

/** A session from a file that is a prepared model. Throws kInvalidArgument for options that would change the model. */
std::unique_ptr<Session> session_from_prepared_model(const std::shared_ptr<Environment>& environment,
                                                     const std::string& path, const SessionOptions& options,
                                                     const Logger& logger);

}  // namespace ortolan::runtime
