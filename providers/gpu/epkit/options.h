// What users can set for a provider: entries of a session, ep.<provider>.<key>, or the options given with a device.
#pragma once

#include <span>
#include <string>

#include "gpu/core/engine.h"
#include "gpu/epkit/host.h"

namespace ortolan::gpu::epkit {

struct Options {
  std::string device;  // its number, a part of its name, or gpu, cpu, accelerator; empty: a GPU, or else the first
  Precision precision = Precision::kFloat;
  size_t memory_limit = 0;  // of a session's device memory for tensors, in bytes; 0: none
  Tuning tuning = Tuning::kNone;
  Products products = Products::kAuto;
  std::string cache_folder;   // of kernels and tuning; empty: the user's, "off": nothing is kept
  bool profiling = true;      // profiles hold the device's times of all kernels
  size_t min_group_size = 1;  // groups of fewer nodes are left to others
  bool log_refusals = false;  // the log says of each node why it is not taken
  void* queue = nullptr;      // of a device's driver, which the caller has made and runs are to use; NULL: own ones
};

/** An option that one provider has beside those of all. */
struct ProviderOption {
  const char* key;
  const char* allowed;                                     // in words
  bool (*set)(Options& options, const std::string& text);  // false: the text is not allowed
};

/** What the session's entries ep.<provider>.<key> set, over the values above; `own` are the provider's own,
 * which come last. Throws
 * Failure for keys that there are not and values that make no sense. */
Options read_options(const Host& host, const OrtSessionOptions* session, const std::string& provider,
                     std::span<const ProviderOption> own);

/** The defaults as a new list, for programs that ask a device what can be set. */
OrtKeyValuePairs* default_options(const Host& host);

/** A number that is not negative; throws Failure that names the key. */
size_t parse_number(const std::string& key, const std::string& text);

}  // namespace ortolan::gpu::epkit
