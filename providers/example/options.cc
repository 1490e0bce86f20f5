// Reads options from the entries of a session, one table for both directions.
#include "options.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace ortolan::example {
namespace {

struct Row {
  const char* key;
  size_t (*get)(const Options&);
  void (*set)(Options&, size_t);
};

constexpr Row kRows[] = {
    {"min_group_size", [](const Options& o) { return o.min_group_size; },
     [](Options& o, size_t value) { o.min_group_size = value; }},
    {"drop_constant_initializers", [](const Options& o) { return size_t{o.drop_constant_initializers}; },
     [](Options& o, size_t value) { o.drop_constant_initializers = value != 0; }},
    {"prepack", [](const Options& o) { return size_t{o.prepack}; },
     [](Options& o, size_t value) { o.prepack = value != 0; }},
    {"memory_limit", [](const Options& o) { return o.memory_limit; },
     [](Options& o, size_t value) { o.memory_limit = value; }},
    {"gather", [](const Options& o) { return static_cast<size_t>(o.gather); },
     [](Options& o, size_t value) { o.gather = static_cast<int>(std::min<size_t>(value, 1 << 20)); }},
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
    if (read_entry(host, session, prefix + row.key, value)) row.set(options, parse_number(row.key, value));
  }
  return options;
}

OrtKeyValuePairs* default_options(const Host& host) {
  OrtKeyValuePairs* list = nullptr;
  host.api->CreateKeyValuePairs(&list);
  for (const Row& row : kRows) host.api->AddKeyValuePair(list, row.key, std::to_string(row.get(Options())).c_str());
  return list;
}

}  // namespace ortolan::example
