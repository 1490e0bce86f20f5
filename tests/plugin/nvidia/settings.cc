// Option structs and entries through the function table.
#include "nvidia/settings.h"

#include <map>

namespace ortolan::plugin_test {

void* handle_of_library = nullptr;
std::string log_text;

const std::map<std::string, std::string>& defaults() {
  static const std::map<std::string, std::string> defaults = {
      {"arena_extend_strategy", "kNextPowerOfTwo"},
      {"cudnn_conv1d_pad_to_nc1d", "0"},
      {"cudnn_conv_algo_search", "EXHAUSTIVE"},
      {"cudnn_conv_use_max_workspace", "1"},
      {"device_id", "0"},
      {"do_copy_in_default_stream", "1"},
      {"enable_cuda_graph", "0"},
      {"enable_skip_layer_norm_strict_mode", "0"},
      {"fuse_conv_bias", "0"},
      {"gpu_mem_limit", "18446744073709551615"},
      {"has_user_compute_stream", "0"},
      {"prefer_nhwc", "0"},
      {"sdpa_kernel", "0"},
      {"tunable_op_enable", "0"},
      {"tunable_op_max_tuning_duration_ms", "0"},
      {"tunable_op_tuning_enable", "0"},
      {"use_ep_level_unified_stream", "0"},
      {"use_tf32", "1"},
      {"user_compute_stream", "0"},
  };
  return defaults;
}

void ORT_API_CALL keep_line(void*, OrtLoggingLevel, const char*, const char*, const char*, const char* line) {
  log_text += std::string(line) + '\n';
}

std::map<std::string, std::string> entries(const Runtime& runtime, const OrtSessionOptions* options,
                                           const std::string& prefix) {
  OrtKeyValuePairs* pairs = nullptr;
  runtime.ok(runtime.api->GetSessionOptionsConfigEntries(options, &pairs));
  Handle<OrtKeyValuePairs> owner(pairs, runtime.api->ReleaseKeyValuePairs);
  const char *const *keys = nullptr, *const *values = nullptr;
  size_t count = 0;
  runtime.api->GetKeyValuePairs(pairs, &keys, &values, &count);
  std::map<std::string, std::string> found;
  for (size_t i = 0; i < count; ++i) {
    std::string key = keys[i];
    if (key.starts_with(prefix)) found[key.substr(prefix.size())] = values[i];
  }
  return found;
}

std::map<std::string, std::string> defaults_but(std::map<std::string, std::string> given) {
  given.insert(defaults().begin(), defaults().end());
  return given;
}

void expect_entries(const Runtime& runtime, const OrtSessionOptions* options,
                    const std::map<std::string, std::string>& wanted) {
  auto found = entries(runtime, options);
  for (const auto& [key, value] : wanted) {
    expect(found.contains(key), "nothing says " + key);
    expect_equal(found[key], value, key);
  }
  expect_equal(found.size(), wanted.size(), "the number of entries");
}

std::string devices_chosen(const Runtime& runtime, const OrtSessionOptions* options, const char* library) {
  GraphText square;
  square.input("x", {3}).output("z", {3}).node("Mul", {"x", "x"}, {"z"});
  void* zoo = dlopen(library, RTLD_NOW);
  auto* chosen = reinterpret_cast<const char* (*)()>(dlsym(zoo, "zoo_chosen"));
  chosen();
  Handle<OrtSession> session = runtime.session(square, options);
  std::string result = chosen();
  dlclose(zoo);
  return result;
}

OrtStatus* append(const Runtime& runtime, OrtSessionOptions* options, const char* name, const Pairs& settings) {
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : settings) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  return runtime.api->SessionOptionsAppendExecutionProvider(options, name, keys.data(), values.data(), keys.size());
}

void ask_for_cuda(const Runtime& runtime, OrtSessionOptions* options) {
  runtime.ok(runtime.api->AddSessionConfigEntry(options, "ortolan.tensorrt_as_cuda", "1"));
}

CudaOptions cuda_options(const Runtime& runtime) {
  OrtCUDAProviderOptionsV2* made = nullptr;
  runtime.ok(runtime.api->CreateCUDAProviderOptions(&made));
  return {made, runtime.api->ReleaseCUDAProviderOptions};
}

OrtStatus* update(const Runtime& runtime, const CudaOptions& options, const char* key, const char* value) {
  return runtime.api->UpdateCUDAProviderOptions(options.get(), &key, &value, 1);
}

std::string text_of(const Runtime& runtime, const CudaOptions& options) {
  OrtAllocator* allocator = nullptr;
  runtime.ok(runtime.api->GetAllocatorWithDefaultOptions(&allocator));
  char* text = nullptr;
  runtime.ok(runtime.api->GetCUDAProviderOptionsAsString(options.get(), allocator, &text));
  std::string result = text;
  runtime.ok(runtime.api->AllocatorFree(allocator, text));
  return result;
}

}  // namespace ortolan::plugin_test
