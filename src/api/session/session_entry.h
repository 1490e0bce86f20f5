// Entries of session options by key.
#pragma once

#include <string>
#include <string_view>

#include "runtime/session/session_options.h"

namespace ortolan::api {

/** Sets an entry. Those keys that stand for a setter of the API ("session.intra_op_num_threads",
    "session.execution_mode"; all in session_entry.cc) set what it sets and are no entries afterwards. Throws
    kInvalidArgument for an empty key, and for a value that such a key cannot have. */
void set_session_entry(runtime::SessionOptions& options, const std::string& key, std::string_view value);

}  // namespace ortolan::api
