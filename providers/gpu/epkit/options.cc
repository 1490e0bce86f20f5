// Reads options from the entries of a session; one table for both directions.
#include "gpu/epkit/options.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <memory>
#include <optional>
#include <vector>

namespace ortolan::gpu::epkit {
namespace {

std::optional<size_t> number_of(const std::string& text) {
  size_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool set(size_t& option, const std::string& text) {
  std::optional<size_t> value = number_of(text);
  option = value.value_or(option);
  return value.has_value();
}

bool set(bool& option, const std::string& text) {
  option = text == "1";
  return text == "0" || text == "1";
}

bool set(std::string& option, const std::string& text) {
  option = text;
  return true;
}

bool set(Tuning& option, const std::string& text) {
  option = text == "fast" ? Tuning::kFast : text == "full" ? Tuning::kFull : Tuning::kNone;
  return text == "none" || option != Tuning::kNone;
}

bool set(Precision& option, const std::string& text) {
  option = text == "fp16"   ? Precision::kHalf
           : text == "tf32" ? Precision::kTf32
           : text == "bf16" ? Precision::kBfloat
                            : Precision::kFloat;
  return text == "fp32" || option != Precision::kFloat;
}

bool set(Products& option, const std::string& text) {
  option = text == "own" ? Products::kOwn : text == "library" ? Products::kLibrary : Products::kAuto;
  return text == "auto" || option != Products::kAuto;
}

bool is_folder(const std::string& text) { return text.empty() || text == "off" || text[0] == '/'; }

struct Row : ProviderOption {
  const char* fallback;
};

constexpr const char* kNumber = "a number from 0";
constexpr const char* kSwitch = "0 or 1";

constexpr Row kRows[] = {
    {{"device", "", [](Options& o, const std::string& text) { return set(o.device, text); }}, ""},
    {{"precision",
      "fp32, or tf32: libraries and matrix units may round the factors of products of float32 tensors to 11 bits, or "
      "bf16: to 8 bits, or fp16: products of float16 tensors compute in 16 bits, those of float32 in 32",
      [](Options& o, const std::string& text) { return set(o.precision, text); }},
     "fp32"},
    {{"memory_limit", kNumber, [](Options& o, const std::string& text) { return set(o.memory_limit, text); }}, "0"},
    {{"tuning", "none, fast or full", [](Options& o, const std::string& text) { return set(o.tuning, text); }}, "none"},
    {{"products", "auto, own or library", [](Options& o, const std::string& text) { return set(o.products, text); }},
     "auto"},
    {{"cache_folder", "a path from the root, off, or empty for the user's cache",
      [](Options& o, const std::string& text) { return is_folder(text) && set(o.cache_folder, text); }},
     ""},
    {{"profiling", kSwitch, [](Options& o, const std::string& text) { return set(o.profiling, text); }}, "1"},
    {{"min_group_size", kNumber, [](Options& o, const std::string& text) { return set(o.min_group_size, text); }}, "1"},
    {{"log_refusals", kSwitch, [](Options& o, const std::string& text) { return set(o.log_refusals, text); }}, "0"},
};

[[noreturn]] void fail_value(const std::string& key, const std::string& text, const std::string& allowed) {
  fail(ORT_INVALID_ARGUMENT, "option " + key + " is '" + text + "', it must be " + allowed);
}

template <class Rows>
const ProviderOption* find(const Rows& rows, const std::string& key) {
  auto found = std::find_if(std::begin(rows), std::end(rows), [&](const auto& row) { return key == row.key; });
  return found == std::end(rows) ? nullptr : &*found;
}

void set_option(Options& options, const ProviderOption* row, const std::string& text) {
  if (row != nullptr && !row->set(options, text)) fail_value(row->key, text, row->allowed);
}

[[noreturn]] void fail_unknown(const std::string& key, const std::string& text, std::span<const ProviderOption> own) {
  std::string keys;
  for (const Row& row : kRows) keys += std::string(keys.empty() ? "" : ", ") + row.key;
  for (const ProviderOption& row : own) keys += std::string(", ") + row.key;
  fail(ORT_INVALID_ARGUMENT, "there is no option " + key + ", which is set to '" + text + "'; there are " + keys);
}

}  // namespace

size_t parse_number(const std::string& key, const std::string& text) {
  std::optional<size_t> value = number_of(text);
  if (!value) fail_value(key, text, kNumber);
  return *value;
}

Options read_options(const Host& host, const OrtSessionOptions* session, const std::string& provider,
                     std::span<const ProviderOption> own) {
  std::string prefix = "ep." + provider + ".";
  std::transform(prefix.begin(), prefix.end(), prefix.begin(), [](unsigned char c) { return std::tolower(c); });
  OrtKeyValuePairs* made = nullptr;
  check(host, host.api->GetSessionOptionsConfigEntries(session, &made));
  std::unique_ptr<OrtKeyValuePairs, decltype(host.api->ReleaseKeyValuePairs)> entries(made,
                                                                                      host.api->ReleaseKeyValuePairs);
  const char *const *keys = nullptr, *const *values = nullptr;
  size_t count = 0;
  host.api->GetKeyValuePairs(made, &keys, &values, &count);
  std::vector<std::pair<std::string, std::string>> given;
  for (size_t i = 0; i < count; i++) {
    std::string key = keys[i];
    if (key.starts_with(prefix)) given.emplace_back(key.substr(prefix.size()), values[i]);
  }
  Options options;
  for (const auto& [key, text] : given) set_option(options, find(kRows, key), text);
  for (const auto& [key, text] : given) {
    set_option(options, find(own, key), text);
    if (find(kRows, key) == nullptr && find(own, key) == nullptr) fail_unknown(key, text, own);
  }
  return options;
}

OrtKeyValuePairs* default_options(const Host& host) {
  OrtKeyValuePairs* list = nullptr;
  host.api->CreateKeyValuePairs(&list);
  for (const Row& row : kRows) host.api->AddKeyValuePair(list, row.key, row.fallback);
  return list;
}

}  // namespace ortolan::gpu::epkit
