// The CUDA provider's options: their keys and spellings, the struct of fixed layout, and how sessions get them.
#include "api/providers/cuda_options.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <iterator>

#include "api/arguments.h"
#include "tensor/arena.h"

namespace ortolan::api {
namespace {

constexpr const char* kArenaStrategies[] = {"kNextPowerOfTwo", "kSameAsRequested"};
constexpr const char* kAlgorithmSearches[] = {"EXHAUSTIVE", "HEURISTIC", "DEFAULT"};
constexpr const char* kCuda = "CUDAExecutionProvider";
constexpr const char* kNoLimit = "18446744073709551615";

[[noreturn]] void fail_value(std::string_view key, std::string_view value, std::string_view allowed) {
  fail(ErrorCode::kInvalidArgument, "CUDA option '", key, "' cannot be '", value, "'; it must be ", allowed);
}

template <class Number>
std::string number(std::string_view key, std::string_view value, std::string_view allowed) {
  Number read{};
  auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), read);
  if (error != std::errc() || end != value.data() + value.size()) fail_value(key, value, allowed);
  return join(read);
}

std::string integer(std::string_view key, std::string_view value) { return number<int>(key, value, "a whole number"); }

std::string size(std::string_view key, std::string_view value) {
  return number<uint64_t>(key, value, "a whole number that is not negative");
}

/** Python's spelling is taken too, as its programs give it. */
std::string is_on(std::string_view key, std::string_view value) {
  if (value == "1" || value == "true" || value == "True") return "1";
  if (value == "0" || value == "false" || value == "False") return "0";
  fail_value(key, value, "0 or 1");
}

std::string one_of(std::span<const char* const> names, std::string_view key, std::string_view value) {
  if (std::ranges::find(names, value) != names.end()) return std::string(value);
  std::string allowed;
  for (const char* name : names) allowed += join(allowed.empty() ? "" : name == names.back() ? " or " : ", ", name);
  fail_value(key, value, allowed);
}

std::string arena_strategy(std::string_view key, std::string_view value) {
  return one_of(kArenaStrategies, key, value);
}
std::string algorithm_search(std::string_view key, std::string_view value) {
  return one_of(kAlgorithmSearches, key, value);
}

struct Row {
  const char* key;
  const char* fallback;
  std::string (*spell)(std::string_view key, std::string_view value);
};
constexpr Row kRows[] = {
    {"device_id", "0", integer},
    {"gpu_mem_limit", kNoLimit, size},
    {"arena_extend_strategy", "kNextPowerOfTwo", arena_strategy},
    {"cudnn_conv_algo_search", "EXHAUSTIVE", algorithm_search},
    {"do_copy_in_default_stream", "1", is_on},
    {"cudnn_conv_use_max_workspace", "1", is_on},
    {"cudnn_conv1d_pad_to_nc1d", "0", is_on},
    {"enable_cuda_graph", "0", is_on},
    {"enable_skip_layer_norm_strict_mode", "0", is_on},
    {"prefer_nhwc", "0", is_on},
    {"use_ep_level_unified_stream", "0", is_on},
    {"use_tf32", "1", is_on},
    {"fuse_conv_bias", "0", is_on},
    {"sdpa_kernel", "0", integer},
    {"tunable_op_enable", "0", is_on},
    {"tunable_op_tuning_enable", "0", is_on},
    {"tunable_op_max_tuning_duration_ms", "0", integer},
    {"has_user_compute_stream", "0", is_on},
    {"user_compute_stream", "0", size},
};

/** A member that is an index into names. */
std::string name_at(std::span<const char* const> names, const char* key, int index) {
  require(index >= 0 && static_cast<size_t>(index) < names.size(), ErrorCode::kInvalidArgument, "CUDA option '", key,
          "' is ", index, "; it must be from 0 to ", names.size() - 1);
  return names[static_cast<size_t>(index)];
}

std::string switch_text(int member) { return member != 0 ? "1" : "0"; }

/** A provider without any memory could do nothing: structs that programs set to zeros mean no limit. */
std::string limit_text(size_t bytes) { return bytes == 0 ? kNoLimit : join(bytes); }

void add_missing(runtime::SessionOptions& options, const std::string& provider, const ProviderSettings& settings) {
  for (const auto& [key, value] : settings) options.config.try_emplace(runtime::provider_entry(provider, key), value);
}

/** Takes the defaults out of the settings. */
ProviderSettings split_defaults(ProviderSettings& settings) {
  ProviderSettings defaults;
  for (const auto& [key, fallback] : cuda_defaults()) {
    auto found = settings.find(key);
    if (found != settings.end() && found->second == fallback) defaults.insert(settings.extract(found));
  }
  return defaults;
}

}  // namespace

const ProviderSettings& cuda_defaults() {
  static const auto* const defaults = [] {
    auto* made = new ProviderSettings;
    for (const Row& row : kRows) made->emplace(row.key, row.fallback);
    return made;
  }();
  return *defaults;
}

std::string cuda_value(std::string_view key, std::string_view value) {
  const Row* row = std::ranges::find(kRows, key, &Row::key);
  return row == std::end(kRows) ? std::string(value) : row->spell(key, value);
}

std::string address_text(const void* address) { return join(std::bit_cast<uintptr_t>(address)); }

ProviderSettings arena_settings(const OrtArenaCfg& arena) {
  const ArenaOptions& given = unwrap(&arena, "default_memory_arena_cfg");
  return {{"gpu_mem_limit", limit_text(given.limit)},
          {"arena_extend_strategy", kArenaStrategies[given.extend_strategy == 1]}};
}

ProviderSettings cuda_settings(const OrtCUDAProviderOptions* options) {
  ProviderSettings settings = cuda_defaults();
  if (options == nullptr) return settings;
  settings["device_id"] = join(options->device_id);
  settings["gpu_mem_limit"] = limit_text(options->gpu_mem_limit);
  settings["arena_extend_strategy"] =
      name_at(kArenaStrategies, "arena_extend_strategy", options->arena_extend_strategy);
  settings["cudnn_conv_algo_search"] =
      name_at(kAlgorithmSearches, "cudnn_conv_algo_search", options->cudnn_conv_algo_search);
  settings["do_copy_in_default_stream"] = switch_text(options->do_copy_in_default_stream);
  settings["has_user_compute_stream"] = switch_text(options->has_user_compute_stream);
  if (options->has_user_compute_stream != 0) {
    settings["user_compute_stream"] = address_text(options->user_compute_stream);
  }
  settings["tunable_op_enable"] = switch_text(options->tunable_op_enable);
  settings["tunable_op_tuning_enable"] = switch_text(options->tunable_op_tuning_enable);
  settings["tunable_op_max_tuning_duration_ms"] = join(options->tunable_op_max_tuning_duration_ms);
  if (options->default_memory_arena_cfg == nullptr) return settings;
  ProviderSettings arena = arena_settings(*options->default_memory_arena_cfg);
  arena.merge(settings);
  return arena;
}

int cuda_device(const runtime::SessionOptions& options, const ProviderSettings& settings) {
  auto found = settings.find("device_id");
  if (found != settings.end()) return std::stoi(cuda_value("device_id", found->second));
  return std::stoi(cuda_value("device_id", options.config_or(runtime::provider_entry(kCuda, "device_id"), "0")));
}

runtime::ProviderRequest& append_cuda(runtime::SessionOptions& options, ProviderSettings settings) {
  for (auto& [key, value] : settings) value = cuda_value(key, value);
  auto stream = settings.find("user_compute_stream");
  if (stream != settings.end() && stream->second != "0") settings["has_user_compute_stream"] = "1";
  auto known = std::ranges::find(options.providers, kCuda, &runtime::ProviderRequest::name);
  if (known != options.providers.end() && options.config_or(kTensorRtAsCuda, "0") == "1") {
    add_missing(options, kCuda, settings);
    return *known;
  }
  const ProviderSettings defaults = split_defaults(settings);
  append_bundled(options, "CUDA", settings, cuda_device(options, settings));
  add_missing(options, options.providers.back().name, defaults);
  return options.providers.back();
}

}  // namespace ortolan::api
