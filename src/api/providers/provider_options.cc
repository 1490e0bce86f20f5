// The option structs of providers: made, changed by key, and read as text. They are kept as given, but for CUDA's,
// which have their defaults and spellings; the provider that takes them judges them.
#include "api/providers/provider_options.h"

#include <bit>
#include <charconv>

#include "api/arguments.h"
#include "api/environment/allocators.h"
#include "api/guard.h"
#include "api/providers/cuda_options.h"

namespace ortolan::api {
namespace {

/** "a=1;b=2". */
std::string joined(const base::KeyValues& entries) {
  std::string result;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i != 0) result += ';';
    result += entries.key(i) + '=' + entries.value(i);
  }
  return result;
}

template <class Handle>
OrtStatus* create(Handle** out, ProviderOptions options = {}) noexcept {
  return guard([&] { give(out, std::move(options)); });
}

std::string as_given(std::string_view, std::string_view value) { return std::string(value); }

template <class Handle>
OrtStatus* update(Handle* options, const char* const* keys, const char* const* values, size_t count,
                  std::string (*spell)(std::string_view key, std::string_view value) = as_given) noexcept {
  return guard([&] {
    ProviderOptions& core = unwrap(options, "options");
    auto names = array(keys, count, "provider_options_keys");
    auto texts = array(values, count, "provider_options_values");
    base::KeyValues changed = core.entries;
    for (size_t i = 0; i < count; ++i) {
      std::string key = text(names[i], "provider_options_keys[i]");
      require(!key.empty(), ErrorCode::kInvalidArgument, "the key of provider option ", i, " is empty");
      changed.set(key, spell(key, text(texts[i], "provider_options_values[i]")));
    }
    core.entries = changed;
  });
}

template <class Handle>
OrtStatus* as_string(const Handle* options, OrtAllocator* allocator, char** out) noexcept {
  return guard([&] {
    std::string entries = joined(unwrap(options, "options").entries);
    require_argument(out, "ptr");
    *out = copy_text(allocator, entries);
  });
}

template <class Number>
Number number_from(std::string_view key, std::string_view value) {
  Number number{};
  auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  require(error == std::errc() && end == value.data() + value.size(), ErrorCode::kInvalidArgument, "option '", key,
          "' cannot be '", value, "'; it takes a whole number");
  return number;
}

constexpr std::string_view kStream = "user_compute_stream";

template <class Handle>
OrtStatus* set_pointer(Handle* options, const char* key, void* value) noexcept {
  return guard([&] {
    base::KeyValues& entries = unwrap(options, "options").entries;
    std::string name = text(key, "key");
    if (name == kStream) entries.set(join("has_", kStream), "1");
    entries.set(std::move(name), address_text(value));
  });
}

/** The address that an option was set to, as a pointer or as a number. */
template <class Handle>
OrtStatus* get_pointer(const Handle* options, const char* key, void** out) noexcept {
  return guard([&] {
    const std::string* value = unwrap(options, "options").entries.find(text(key, "key"));
    require(value != nullptr || key == kStream, ErrorCode::kInvalidArgument, "option '", key, "' has not been set");
    uintptr_t address = value == nullptr ? 0 : number_from<uintptr_t>(key, *value);
    put(out, std::bit_cast<void*>(address), "ptr");
  });
}

/** The arena's limits take the place of those that are set. */
OrtStatus* set_arena(OrtCUDAProviderOptionsV2* options, const OrtArenaCfg& arena) noexcept {
  return guard([&] {
    for (auto& [key, value] : arena_settings(arena)) unwrap(options, "options").entries.set(key, value);
  });
}

/** The members of the fixed struct that can be set by key. */
struct RocmMember {
  const char* key;
  int OrtROCMProviderOptions::*number;
};
constexpr RocmMember kRocmMembers[] = {
    {"device_id", &OrtROCMProviderOptions::device_id},
    {"miopen_conv_exhaustive_search", &OrtROCMProviderOptions::miopen_conv_exhaustive_search},
    {"arena_extend_strategy", &OrtROCMProviderOptions::arena_extend_strategy},
    {"do_copy_in_default_stream", &OrtROCMProviderOptions::do_copy_in_default_stream},
    {"enable_hip_graph", &OrtROCMProviderOptions::enable_hip_graph},
    {"tunable_op_enable", &OrtROCMProviderOptions::tunable_op_enable},
    {"tunable_op_tuning_enable", &OrtROCMProviderOptions::tunable_op_tuning_enable},
    {"tunable_op_max_tuning_duration_ms", &OrtROCMProviderOptions::tunable_op_max_tuning_duration_ms},
};

void set_rocm_member(OrtROCMProviderOptions& options, std::string_view key, std::string_view value) {
  if (key == "gpu_mem_limit") {
    options.gpu_mem_limit = number_from<size_t>(key, value);
    return;
  }
  for (const RocmMember& member : kRocmMembers) {
    if (member.key == key) {
      options.*member.number = number_from<int>(key, value);
      return;
    }
  }
  fail(ErrorCode::kInvalidArgument, "the ROCM provider has no option '", key, "'");
}

base::KeyValues rocm_entries(const OrtROCMProviderOptions& options) {
  base::KeyValues entries;
  entries.set("gpu_mem_limit", join(options.gpu_mem_limit));
  for (const RocmMember& member : kRocmMembers) entries.set(member.key, join(options.*member.number));
  return entries;
}

}  // namespace

OrtStatus* ORT_API_CALL CreateTensorRTProviderOptions(OrtTensorRTProviderOptionsV2** out) noexcept {
  return create(out);
}
OrtStatus* ORT_API_CALL UpdateTensorRTProviderOptions(OrtTensorRTProviderOptionsV2* options, const char* const* keys,
                                                      const char* const* values, size_t num_keys) noexcept {
  return update(options, keys, values, num_keys);
}
OrtStatus* ORT_API_CALL GetTensorRTProviderOptionsAsString(const OrtTensorRTProviderOptionsV2* options,
                                                           OrtAllocator* allocator, char** ptr) noexcept {
  return as_string(options, allocator, ptr);
}
OrtStatus* ORT_API_CALL UpdateTensorRTProviderOptionsWithValue(OrtTensorRTProviderOptionsV2* options, const char* key,
                                                               void* value) noexcept {
  return set_pointer(options, key, value);
}
OrtStatus* ORT_API_CALL GetTensorRTProviderOptionsByName(const OrtTensorRTProviderOptionsV2* options, const char* key,
                                                         void** ptr) noexcept {
  return get_pointer(options, key, ptr);
}
void ORT_API_CALL ReleaseTensorRTProviderOptions(OrtTensorRTProviderOptionsV2* options) noexcept { release(options); }

OrtStatus* ORT_API_CALL CreateCUDAProviderOptions(OrtCUDAProviderOptionsV2** out) noexcept {
  ProviderOptions options;
  for (const auto& [key, value] : cuda_defaults()) options.entries.set(key, value);
  return create(out, std::move(options));
}
OrtStatus* ORT_API_CALL UpdateCUDAProviderOptions(OrtCUDAProviderOptionsV2* options, const char* const* keys,
                                                  const char* const* values, size_t num_keys) noexcept {
  return update(options, keys, values, num_keys, cuda_value);
}
OrtStatus* ORT_API_CALL GetCUDAProviderOptionsAsString(const OrtCUDAProviderOptionsV2* options, OrtAllocator* allocator,
                                                       char** ptr) noexcept {
  return as_string(options, allocator, ptr);
}
OrtStatus* ORT_API_CALL UpdateCUDAProviderOptionsWithValue(OrtCUDAProviderOptionsV2* options, const char* key,
                                                           void* value) noexcept {
  if (key != nullptr && value != nullptr && key == std::string_view("default_memory_arena_cfg")) {
    return set_arena(options, *static_cast<const OrtArenaCfg*>(value));
  }
  return set_pointer(options, key, value);
}
OrtStatus* ORT_API_CALL GetCUDAProviderOptionsByName(const OrtCUDAProviderOptionsV2* options, const char* key,
                                                     void** ptr) noexcept {
  return get_pointer(options, key, ptr);
}
void ORT_API_CALL ReleaseCUDAProviderOptions(OrtCUDAProviderOptionsV2* options) noexcept { release(options); }

OrtStatus* ORT_API_CALL CreateCANNProviderOptions(OrtCANNProviderOptions** out) noexcept { return create(out); }
OrtStatus* ORT_API_CALL UpdateCANNProviderOptions(OrtCANNProviderOptions* options, const char* const* keys,
                                                  const char* const* values, size_t num_keys) noexcept {
  return update(options, keys, values, num_keys);
}
OrtStatus* ORT_API_CALL GetCANNProviderOptionsAsString(const OrtCANNProviderOptions* options, OrtAllocator* allocator,
                                                       char** ptr) noexcept {
  return as_string(options, allocator, ptr);
}
void ORT_API_CALL ReleaseCANNProviderOptions(OrtCANNProviderOptions* options) noexcept { release(options); }

OrtStatus* ORT_API_CALL CreateDnnlProviderOptions(OrtDnnlProviderOptions** out) noexcept { return create(out); }
OrtStatus* ORT_API_CALL UpdateDnnlProviderOptions(OrtDnnlProviderOptions* options, const char* const* keys,
                                                  const char* const* values, size_t num_keys) noexcept {
  return update(options, keys, values, num_keys);
}
OrtStatus* ORT_API_CALL GetDnnlProviderOptionsAsString(const OrtDnnlProviderOptions* options, OrtAllocator* allocator,
                                                       char** ptr) noexcept {
  return as_string(options, allocator, ptr);
}
void ORT_API_CALL ReleaseDnnlProviderOptions(OrtDnnlProviderOptions* options) noexcept { release(options); }

OrtStatus* ORT_API_CALL CreateROCMProviderOptions(OrtROCMProviderOptions** out) noexcept {
  return guard([&] {
    require_argument(out, "out");
    auto options = std::make_unique<OrtROCMProviderOptions>();
    options->gpu_mem_limit = SIZE_MAX;
    options->do_copy_in_default_stream = 1;
    *out = options.release();
  });
}
OrtStatus* ORT_API_CALL UpdateROCMProviderOptions(OrtROCMProviderOptions* options, const char* const* keys,
                                                  const char* const* values, size_t num_keys) noexcept {
  return guard([&] {
    require_argument(options, "options");
    auto names = array(keys, num_keys, "provider_options_keys");
    auto texts = array(values, num_keys, "provider_options_values");
    OrtROCMProviderOptions changed = *options;
    for (size_t i = 0; i < num_keys; ++i) set_rocm_member(changed, text(names[i], "key"), text(texts[i], "value"));
    *options = changed;
  });
}
OrtStatus* ORT_API_CALL GetROCMProviderOptionsAsString(const OrtROCMProviderOptions* options, OrtAllocator* allocator,
                                                       char** ptr) noexcept {
  return guard([&] {
    require_argument(options, "options");
    require_argument(ptr, "ptr");
    *ptr = copy_text(allocator, joined(rocm_entries(*options)));
  });
}
void ORT_API_CALL ReleaseROCMProviderOptions(OrtROCMProviderOptions* options) noexcept { delete options; }

}  // namespace ortolan::api
