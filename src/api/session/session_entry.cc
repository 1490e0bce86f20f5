// Which entries stand for setters, and how their values are written.
#include "api/session/session_entry.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"

namespace ortolan::api {
namespace {

using base::ErrorCode;
using base::fail;
using base::require;
using runtime::RewriteLevel;
using runtime::SessionOptions;

[[noreturn]] void fail_value(std::string_view key, std::string_view value, const char* must_be) {
  fail(ErrorCode::kInvalidArgument, "session entry '", key, "' is '", value, "'; it must be ", must_be);
}

int number(std::string_view key, std::string_view value) {
  std::string_view digits = value.substr(value.starts_with('+') ? 1 : 0);
  int parsed = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), parsed);
  if (error != std::errc() || end != digits.data() + digits.size()) fail_value(key, value, "a whole number");
  return parsed;
}

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

bool on_or_off(std::string_view key, std::string_view value) {
  std::string lower = in_lower_case(value);
  if (lower == "1" || lower == "true") return true;
  if (lower != "0" && lower != "false") fail_value(key, value, "0, 1, false or true");
  return false;
}

runtime::ExecutionMode mode(std::string_view key, std::string_view value) {
  std::string lower = in_lower_case(value);
  if (lower == "parallel") return runtime::ExecutionMode::kParallel;
  if (lower != "sequential") fail_value(key, value, "sequential or parallel");
  return runtime::ExecutionMode::kSequential;
}

RewriteLevel level(std::string_view key, std::string_view value) {
  constexpr std::pair<std::string_view, RewriteLevel> kLevels[] = {{"disable_all", RewriteLevel::kNone},
                                                                   {"enable_basic", RewriteLevel::kBasic},
                                                                   {"enable_extended", RewriteLevel::kExtended},
                                                                   {"enable_layout", RewriteLevel::kLayout},
                                                                   {"enable_all", RewriteLevel::kAll}};
  std::string lower = in_lower_case(value);
  for (const auto& [name, known] : kLevels) {
    if (lower == name) return known;
  }
  fail_value(key, value, "disable_all, enable_basic, enable_extended, enable_layout or enable_all");
}

struct Setter {
  std::string_view key;
  void (*set)(SessionOptions& options, std::string_view key, std::string_view value);
};

constexpr Setter kSetters[] = {
    {"session.intra_op_num_threads",
     [](auto& options, auto key, auto value) { options.intra_op_threads = std::max(number(key, value), 0); }},
    {"session.inter_op_num_threads",
     [](auto& options, auto key, auto value) { options.inter_op_threads = std::max(number(key, value), 0); }},
    {"session.use_per_session_threads",
     [](auto& options, auto key, auto value) { options.use_global_threads = !on_or_off(key, value); }},
    {"session.execution_mode", [](auto& options, auto key, auto value) { options.mode = mode(key, value); }},
    {"session.graph_optimization_level",
     [](auto& options, auto key, auto value) { options.level = level(key, value); }},
    {"session.enable_mem_pattern",
     [](auto& options, auto key, auto value) { options.memory_pattern = on_or_off(key, value); }},
    {"session.enable_cpu_mem_arena",
     [](auto& options, auto key, auto value) { options.cpu_arena = on_or_off(key, value); }},
    {"session.use_deterministic_compute",
     [](auto& options, auto key, auto value) { options.deterministic = on_or_off(key, value); }},
    {"session.log_id", [](auto& options, auto, auto value) { options.log_id = value; }},
    {"session.log_severity_level",
     [](auto& options, auto key, auto value) { options.log_severity = std::clamp(number(key, value), -1, 4); }},
    {"session.log_verbosity_level",
     [](auto& options, auto key, auto value) { options.log_verbosity = number(key, value); }},
    {"session.enable_profiling",
     [](auto& options, auto, auto value) {
       options.profile_prefix = value;
       options.profile = !value.empty();
     }},
    {"session.optimized_model_filepath", [](auto& options, auto, auto value) { options.optimized_model_path = value; }},
};

}  // namespace

void set_session_entry(SessionOptions& options, const std::string& key, std::string_view value) {
  require(!key.empty(), ErrorCode::kInvalidArgument, "config_key is empty");
  auto setter = std::ranges::find(kSetters, std::string_view(key), &Setter::key);
  if (setter != std::end(kSetters)) return setter->set(options, key, value);
  options.config[key] = value;
}

}  // namespace ortolan::api
