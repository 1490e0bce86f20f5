// The settings of a provider: session entries "ep.<provider's name in lower case>.<key>".
#pragma once

#include <cstddef>
#include <string>

#include "host.h"

namespace ortolan::example {

struct Options {
  size_t min_group_size = 1;               // smaller groups of nodes are left to others
  bool drop_constant_initializers = true;  // the runtime may free its copies of weights
  bool prepack = true;                     // kernels keep their own copies of constant inputs
  size_t memory_limit = 0;                 // of a session's allocator in bytes; 0: none
  int gather = 0;                          // how much work a queue gathers before it starts; 0: until somebody waits
};

/** What the session sets, over the values above. Throws Failure for values that make no sense. */
Options read_options(const Host& host, const OrtSessionOptions* session, const std::string& provider);

/** The defaults as a new list, for programs that ask a device what can be set. */
OrtKeyValuePairs* default_options(const Host& host);

/** A number that is not negative; throws Failure that names the key. */
size_t parse_number(const std::string& key, const std::string& text);

}  // namespace ortolan::example
