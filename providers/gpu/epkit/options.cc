// Reads options from the entries of a session, one table for both directions.
#include "gpu/epkit/options.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace ortolan::gpu::epkit {
namespace {

struct Row {
  const char* key;
  size_t Options::*value;
};

constexpr Row kRows[] = {
    {"memory_limit", &Options::memory_limit},
    {"min_group_size", &Options::min_group_size},
    {"log_refusals", &Options::log_refusals},
};

/** False when the session has no such entry. */
bool read_entry(const Host& host, const OrtSessionOptions* session, const std::string& key, std::string& value) {
  int has = 0;
  check(host, host.api->HasSessionConfigEntry(session, key.c_str(), &has));
  if (!has) return false;
  size_t size = 0;
  check(host, host.api->GetSessionConfigEntry(session, key.c_str(), nullptr, &size));
  value.resize(size);
  check(host, host.api->GetSessionConfigEntry(session, key.c_str(), value.data(), &size));
  value.resize(size - 1);  // the terminator
  return true;
}

}  // namespace

size_t parse_number(const std::string& key, const std::string& text) {
  size_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    fail(ORT_INVALID_ARGUMENT, "option " + key + " is '" + text + "', it must be a number from 0");
  }
  return value;
}

Options read_options(const Host& host, const OrtSessionOptions* session, const std::string& provider) {
  std::string prefix = "ep." + provider + ".";
  std::transform(prefix.begin(), prefix.end(), prefix.begin(), [](unsigned char c) { return std::tolower(c); });
  Options options;
  for (const Row& row : kRows) {
    std::string value;
    if (read_entry(host, session, prefix + row.key, value)) options.*row.value = parse_number(row.key, value);
  }
  return options;
}

OrtKeyValuePairs* default_options(const Host& host) {
  OrtKeyValuePairs* list = nullptr;
  host.api->CreateKeyValuePairs(&list);
  for (const Row& row : kRows) host.api->AddKeyValuePair(list, row.key, std::to_string(Options().*row.value).c_str());
  return list;
}

}  // namespace ortolan::gpu::epkit
