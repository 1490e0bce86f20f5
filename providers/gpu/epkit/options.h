// What users can set for a provider.
#pragma once

#include <string>

#include "gpu/epkit/host.h"

namespace ortolan::gpu::epkit {

struct Options {
  size_t memory_limit = 0;    // of a session's device memory for tensors, in bytes; 0: none
  size_t min_group_size = 1;  // groups of fewer nodes are left to others
  size_t log_refusals = 0;    // 1: the log says of each node why it is not taken
};

/** What the session's entries ep.<provider>.<key> set, over the values above. Throws Failure for values that make no
 *  sense. */
Options read_options(const Host& host, const OrtSessionOptions* session, const std::string& provider);

/** The defaults as a new list, for programs that ask a device what can be set. */
OrtKeyValuePairs* default_options(const Host& host);

/** A number that is not negative; throws Failure that names the key. */
size_t parse_number(const std::string& key, const std::string& text);

}  // namespace ortolan::gpu::epkit
