// nvidia_host LIBRARY ZOO: CUDA's and TensorRT's names, functions and option structs, and what of them reaches a
// provider library, which stands beside the library as CUDA's and lists two devices. The exit code is the number of
// checks that failed. All of it is ours: other runtimes have these providers in libraries of another kind.
#include <dlfcn.h>

#include <filesystem>

#include "conformance_host/runtime.h"
#include "ortolan.h"

namespace ortolan::plugin_test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCudaZoo = "CUDAExecutionProvider,NVIDIA,10de|1,10de,NVIDIA,1|1,10de,NVIDIA,1";
constexpr const char* kTensorRtZoo =
    "TensorrtExecutionProvider,NVIDIA,10de|1,10de,NVIDIA,1;NvTensorRTRTXExecutionProvider,NVIDIA,10de|1,10de,NVIDIA,1";

/** The keys with their defaults, as the official library's page on the provider lists them. */
const std::map<std::string, std::string> kDefaults = {
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

/** A folder with the library and, from some point on, CUDA's. */
class Installed {
 public:
  explicit Installed(const fs::path& library) : folder_(fs::absolute("nvidia_installed")) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    fs::copy_file(fs::canonical(library), this->library());
  }
  ~Installed() { fs::remove_all(folder_); }
  fs::path library() const { return folder_ / "libortolan.so.1"; }
  fs::path add(const char* name, const fs::path& plugin) const {
    fs::copy_file(plugin, folder_ / name);
    return folder_ / name;
  }

 private:
  const fs::path folder_;
};

void* handle_of_library = nullptr;
#define EXPORTED(name) reinterpret_cast<decltype(&(name))>(dlsym(handle_of_library, #name))

std::string log_text;
void ORT_API_CALL keep_line(void*, OrtLoggingLevel, const char*, const char*, const char*, const char* line) {
  log_text += std::string(line) + '\n';
}

std::map<std::string, std::string> entries(const Runtime& runtime, const OrtSessionOptions* options,
                                           const std::string& prefix = "ep.cudaexecutionprovider.") {
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

/** The defaults but for what is given. */
std::map<std::string, std::string> defaults_but(std::map<std::string, std::string> given) {
  given.insert(kDefaults.begin(), kDefaults.end());
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

/** The devices of the providers that a session with these options makes. */
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

OrtStatus* append(const Runtime& runtime, OrtSessionOptions* options, const char* name, const Pairs& settings = {}) {
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

using CudaOptions = Handle<OrtCUDAProviderOptionsV2>;
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

void check_absent(Suite& suite, const Runtime& runtime) {
  suite.check("absent: every way to CUDA says so", 22, [&] {
    Handle<OrtSessionOptions> options = runtime.options();
    CudaOptions newer = cuda_options(runtime);
    OrtCUDAProviderOptions older;
    for (OrtStatus* status : {append(runtime, options.get(), "CUDA"),
                              EXPORTED(OrtSessionOptionsAppendExecutionProvider_CUDA)(options.get(), 0),
                              runtime.api->SessionOptionsAppendExecutionProvider_CUDA(options.get(), &older),
                              runtime.api->SessionOptionsAppendExecutionProvider_CUDA_V2(options.get(), newer.get()),
                              runtime.api->SetCurrentGpuDeviceId(0)}) {
      runtime.fails(status, "CUDA execution provider is not available: this library has the CPU provider built in");
    }
    expect(entries(runtime, options.get()).empty(), "there are entries");
  });
  suite.check("absent: every way to TensorRT names the entry", 22, [&] {
    Handle<OrtSessionOptions> options = runtime.options();
    OrtTensorRTProviderOptions older{};
    for (OrtStatus* status :
         {append(runtime, options.get(), "Tensorrt"), append(runtime, options.get(), "TensorrtExecutionProvider"),
          append(runtime, options.get(), "TensorRT"),
          EXPORTED(OrtSessionOptionsAppendExecutionProvider_Tensorrt)(options.get(), 0),
          runtime.api->SessionOptionsAppendExecutionProvider_TensorRT(options.get(), &older),
          runtime.api->SessionOptionsAppendExecutionProvider_TensorRT_V2(options.get(), nullptr)}) {
      std::string text = runtime.fails(status, "TensorRT execution provider is not available");
      expect(text.find("ortolan.tensorrt_as_cuda") != std::string::npos, "the entry is not named: " + text);
    }
  });
  suite.check("absent: TensorRT as CUDA says that CUDA is missing", 22, [&] {
    Handle<OrtSessionOptions> options = runtime.options();
    ask_for_cuda(runtime, options.get());
    runtime.fails(append(runtime, options.get(), "TensorRT"), "libortolan-cuda");
  });
}

void check_struct(Suite& suite, const Runtime& runtime) {
  suite.check("struct: it has the defaults", 22, [&] {
    Handle<OrtSessionOptions> options = runtime.options();
    OrtCUDAProviderOptions cuda;
    runtime.ok(runtime.api->SessionOptionsAppendExecutionProvider_CUDA(options.get(), &cuda));
    expect_entries(runtime, options.get(), kDefaults);
  });
  suite.check("struct: every member", 22, [&] {
    Handle<OrtSessionOptions> options = runtime.options();
    OrtCUDAProviderOptions cuda;
    cuda.device_id = 1;
    cuda.cudnn_conv_algo_search = OrtCudnnConvAlgoSearchHeuristic;
    cuda.gpu_mem_limit = 5'000'000'000;
    cuda.arena_extend_strategy = 1;
    cuda.do_copy_in_default_stream = 0;
    cuda.has_user_compute_stream = 1;
    cuda.user_compute_stream = reinterpret_cast<void*>(0xABC0);
    cuda.tunable_op_enable = cuda.tunable_op_tuning_enable = 1;
    cuda.tunable_op_max_tuning_duration_ms = 70;
    runtime.ok(runtime.api->SessionOptionsAppendExecutionProvider_CUDA(options.get(), &cuda));
    expect_entries(runtime, options.get(),
                   defaults_but({{"device_id", "1"},
                                 {"cudnn_conv_algo_search", "HEURISTIC"},
                                 {"gpu_mem_limit", "5000000000"},
                                 {"arena_extend_strategy", "kSameAsRequested"},
                                 {"do_copy_in_default_stream", "0"},
                                 {"has_user_compute_stream", "1"},
                                 {"user_compute_stream", "43968"},
                                 {"tunable_op_enable", "1"},
                                 {"tunable_op_tuning_enable", "1"},
                                 {"tunable_op_max_tuning_duration_ms", "70"}}));
  });
  suite.check("struct: an arena's limits come first; no limit is none", 22, [&] {
    Handle<OrtSessionOptions> options = runtime.options();
    OrtCUDAProviderOptions cuda;
    cuda.gpu_mem_limit = 0;
    runtime.ok(runtime.api->CreateArenaCfg(4096, 1, -1, -1, &cuda.default_memory_arena_cfg));
    Handle<OrtArenaCfg> owner(cuda.default_memory_arena_cfg, runtime.api->ReleaseArenaCfg);
    runtime.ok(runtime.api->SessionOptionsAppendExecutionProvider_CUDA(options.get(), &cuda));
    expect_entries(runtime, options.get(),
                   defaults_but({{"gpu_mem_limit", "4096"}, {"arena_extend_strategy", "kSameAsRequested"}}));
    cuda.default_memory_arena_cfg = nullptr;
    options = runtime.options();
    runtime.ok(runtime.api->SessionOptionsAppendExecutionProvider_CUDA(options.get(), &cuda));
    expect_entries(runtime, options.get(), kDefaults);
  });
  suite.check("struct: numbers that mean nothing", 22, [&] {
    Handle<OrtSessionOptions> options = runtime.options();
    OrtCUDAProviderOptions cuda;
    cuda.arena_extend_strategy = 2;
    runtime.fails(runtime.api->SessionOptionsAppendExecutionProvider_CUDA(options.get(), &cuda),
                  "'arena_extend_strategy' is 2; it must be from 0 to 1");
    cuda = {};
    cuda.device_id = 2;
    runtime.fails(runtime.api->SessionOptionsAppendExecutionProvider_CUDA(options.get(), &cuda),
                  "device 2 is not one of the 2");
  });
}

void check_newer_struct(Suite& suite, const Runtime& runtime) {
  suite.check("newer struct: its text has all defaults", 22, [&] {
    CudaOptions cuda = cuda_options(runtime);
    std::string wanted;
    for (const auto& [key, value] : kDefaults) wanted += (wanted.empty() ? "" : ";") + key + "=" + value;
    expect_equal(text_of(runtime, cuda), wanted, "the text");
  });
  suite.check("newer struct: keys are spelled one way and reach the provider", 22, [&] {
    CudaOptions cuda = cuda_options(runtime);
    runtime.ok(update(runtime, cuda, "use_tf32", "False"));
    runtime.ok(update(runtime, cuda, "enable_cuda_graph", "true"));
    runtime.ok(update(runtime, cuda, "device_id", "1"));
    runtime.ok(update(runtime, cuda, "precision", "fp16"));
    expect(text_of(runtime, cuda).find("use_tf32=0") != std::string::npos, "another spelling");
    Handle<OrtSessionOptions> options = runtime.options();
    runtime.ok(runtime.api->SessionOptionsAppendExecutionProvider_CUDA_V2(options.get(), cuda.get()));
    expect_entries(
        runtime, options.get(),
        defaults_but({{"use_tf32", "0"}, {"enable_cuda_graph", "1"}, {"device_id", "1"}, {"precision", "fp16"}}));
  });
  suite.check("newer struct: values that a key cannot have", 22, [&] {
    CudaOptions cuda = cuda_options(runtime);
    runtime.fails(update(runtime, cuda, "use_tf32", "yes"),
                  "CUDA option 'use_tf32' cannot be 'yes'; it must be 0 or 1");
    runtime.fails(update(runtime, cuda, "gpu_mem_limit", "-1"), "not negative");
    runtime.fails(update(runtime, cuda, "arena_extend_strategy", "1"), "kNextPowerOfTwo or kSameAsRequested");
    runtime.fails(update(runtime, cuda, "cudnn_conv_algo_search", "x"), "EXHAUSTIVE, HEURISTIC or DEFAULT");
  });
  suite.check("newer struct: a stream as an address", 22, [&] {
    CudaOptions cuda = cuda_options(runtime);
    int stream = 0;
    void* read = &stream;
    runtime.ok(runtime.api->GetCUDAProviderOptionsByName(cuda.get(), "user_compute_stream", &read));
    expect(read == nullptr, "there is a stream");
    runtime.ok(runtime.api->UpdateCUDAProviderOptionsWithValue(cuda.get(), "user_compute_stream", &stream));
    runtime.ok(runtime.api->GetCUDAProviderOptionsByName(cuda.get(), "user_compute_stream", &read));
    expect(read == &stream, "another stream");
    Handle<OrtSessionOptions> options = runtime.options();
    runtime.ok(runtime.api->SessionOptionsAppendExecutionProvider_CUDA_V2(options.get(), cuda.get()));
    std::string address = std::to_string(reinterpret_cast<uintptr_t>(&stream));
    expect_entries(runtime, options.get(),
                   defaults_but({{"has_user_compute_stream", "1"}, {"user_compute_stream", address}}));
  });
  suite.check("newer struct: entries of the session stay before defaults", 22, [&] {
    CudaOptions cuda = cuda_options(runtime);
    runtime.ok(update(runtime, cuda, "prefer_nhwc", "1"));
    Handle<OrtSessionOptions> options = runtime.options();
    for (const char* key : {"ep.cudaexecutionprovider.device_id", "ep.cudaexecutionprovider.enable_cuda_graph",
                            "ep.cudaexecutionprovider.prefer_nhwc"}) {
      runtime.ok(runtime.api->AddSessionConfigEntry(options.get(), key, key[25] == 'p' ? "0" : "1"));
    }
    runtime.ok(runtime.api->SessionOptionsAppendExecutionProvider_CUDA_V2(options.get(), cuda.get()));
    expect_entries(runtime, options.get(),
                   defaults_but({{"device_id", "1"}, {"enable_cuda_graph", "1"}, {"prefer_nhwc", "1"}}));
  });
}

void check_names(Suite& suite, const Runtime& runtime, const char* library) {
  for (const char* name : {"CUDA", "cuda", "CUDAExecutionProvider"}) {
    suite.check(std::string("name: ") + name + " with only what is given, on the device of that number", 22, [&] {
      Handle<OrtSessionOptions> options = runtime.options();
      runtime.ok(append(runtime, options.get(), name, {{"device_id", "1"}, {"use_tf32", "True"}}));
      expect_entries(runtime, options.get(), {{"device_id", "1"}, {"use_tf32", "1"}});
      expect_equal(devices_chosen(runtime, options.get(), library), "CUDAExecutionProvider: 1;", "the devices");
    });
  }
  suite.check("name: a device that is not there", 22, [&] {
    Handle<OrtSessionOptions> options = runtime.options();
    runtime.fails(append(runtime, options.get(), "CUDA", {{"device_id", "2"}}), "device 2 is not one of the 2");
  });
  suite.check("name: the exported function and the early factory", 22, [&] {
    for (bool early : {false, true}) {
      Handle<OrtSessionOptions> options = runtime.options();
      if (early) {
        OrtProviderFactoryInterface** factory = nullptr;
        runtime.ok(EXPORTED(OrtCreateCUDAExecutionProviderFactory)(1, &factory));
        runtime.ok(EXPORTED(OrtSessionOptionsAppendExecutionProvider)(options.get(), factory));
        EXPORTED(OrtReleaseObject)(factory);
      } else {
        runtime.ok(EXPORTED(OrtSessionOptionsAppendExecutionProvider_CUDA)(options.get(), 1));
      }
      expect_entries(runtime, options.get(), defaults_but({{"device_id", "1"}}));
      expect_equal(devices_chosen(runtime, options.get(), library), "CUDAExecutionProvider: 1;", "the devices");
    }
  });
  suite.check("name: threads have no device", 22, [&] {
    int device = 0;
    runtime.fails(runtime.api->SetCurrentGpuDeviceId(0), "'device_id'");
    runtime.fails(runtime.api->GetCurrentGpuDeviceId(&device), "'device_id'");
  });
  suite.check("name: every session, by its number too", 24, [&] {
    const char *key = "device_id", *value = "1";
    runtime.ok(EXPORTED(OrtEnvAppendExecutionProvider)(runtime.env, "CUDA", &key, &value, 1, 1));
    Handle<OrtSessionOptions> options = runtime.options();
    std::string chosen = devices_chosen(runtime, options.get(), library);
    runtime.ok(EXPORTED(OrtEnvClearExecutionProviders)(runtime.env));
    expect_equal(chosen, "CUDAExecutionProvider: 1;", "the devices");
  });
}

void check_as_cuda(Suite& suite, const Runtime& runtime, const char* library) {
  suite.check("TensorRT as CUDA: what its options mean", 22, [&] {
    Handle<OrtSessionOptions> options = runtime.options();
    ask_for_cuda(runtime, options.get());
    runtime.ok(append(runtime, options.get(), "TensorrtExecutionProvider",
                      {{"device_id", "1"},
                       {"trt_fp16_enable", "True"},
                       {"trt_int8_enable", "1"},
                       {"trt_cuda_graph_enable", "1"},
                       {"trt_max_workspace_size", "1073741824"},
                       {"trt_dump_ep_context_model", "1"},
                       {"trt_ep_context_file_path", "there.onnx"},
                       {"trt_engine_cache_enable", "1"},
                       {"trt_engine_cache_path", "engines"}}));
    expect_entries(runtime, options.get(), {{"device_id", "1"}, {"precision", "fp16"}, {"enable_cuda_graph", "1"}});
    auto context = entries(runtime, options.get(), "ep.context_");
    expect_equal(context["enable"], "1", "ep.context_enable");
    expect_equal(context["file_path"], "there.onnx", "ep.context_file_path");
    auto ours = entries(runtime, options.get(), "ortolan.");
    expect_equal(ours["compiled_model_folder"], "engines", "ortolan.compiled_model_folder");
  });
  suite.check("TensorRT as CUDA: the log says so once", 22, [&] {
    Handle<OrtSessionOptions> options = runtime.options();
    ask_for_cuda(runtime, options.get());
    runtime.ok(append(runtime, options.get(), "TensorRT", {{"trt_fp16_enable", "1"}}));
    log_text.clear();
    expect_equal(devices_chosen(runtime, options.get(), library), "CUDAExecutionProvider: 0;", "the devices");
    const std::string sentence = "CUDAExecutionProvider, with precision=fp16; TensorRT itself takes no part";
    size_t said = log_text.find(sentence);
    expect(said != std::string::npos && log_text.find(sentence, said + 1) == std::string::npos,
           "the log does not say it once: " + log_text);
  });
  suite.check("TensorRT as CUDA: programs ask for both, in either order", 22, [&] {
    for (const auto& [first, second] : {std::pair{"TensorRT", "CUDA"}, {"CUDA", "TensorRT"}}) {
      Handle<OrtSessionOptions> options = runtime.options();
      ask_for_cuda(runtime, options.get());
      runtime.ok(append(runtime, options.get(), first, {{"device_id", "1"}}));
      runtime.ok(append(runtime, options.get(), second));
      expect_equal(devices_chosen(runtime, options.get(), library), "CUDAExecutionProvider: 1;", "the devices");
    }
  });
  suite.check("TensorRT as CUDA: the structs", 22, [&] {
    OrtTensorRTProviderOptions older{};
    older.device_id = 1;
    older.has_user_compute_stream = 1;
    older.user_compute_stream = reinterpret_cast<void*>(0xABC0);
    older.trt_fp16_enable = 1;
    Handle<OrtSessionOptions> options = runtime.options();
    ask_for_cuda(runtime, options.get());
    runtime.ok(runtime.api->SessionOptionsAppendExecutionProvider_TensorRT(options.get(), &older));
    expect_entries(runtime, options.get(),
                   {{"device_id", "1"},
                    {"has_user_compute_stream", "1"},
                    {"user_compute_stream", "43968"},
                    {"precision", "fp16"}});
    OrtTensorRTProviderOptionsV2* made = nullptr;
    runtime.ok(runtime.api->CreateTensorRTProviderOptions(&made));
    Handle<OrtTensorRTProviderOptionsV2> newer(made, runtime.api->ReleaseTensorRTProviderOptions);
    runtime.ok(runtime.api->UpdateTensorRTProviderOptionsWithValue(made, "user_compute_stream", &older));
    options = runtime.options();
    ask_for_cuda(runtime, options.get());
    runtime.ok(runtime.api->SessionOptionsAppendExecutionProvider_TensorRT_V2(options.get(), made));
    expect_entries(runtime, options.get(),
                   {{"has_user_compute_stream", "1"},
                    {"user_compute_stream", std::to_string(reinterpret_cast<uintptr_t>(&older))}});
  });
  suite.check("TensorRT as CUDA: an option that it has not", 22, [&] {
    Handle<OrtSessionOptions> options = runtime.options();
    ask_for_cuda(runtime, options.get());
    runtime.fails(append(runtime, options.get(), "TensorRT", {{"trt_fp61_enable", "1"}}),
                  "no option 'trt_fp61_enable'");
  });
}

/** Whoever has these names comes before what stands in for them. */
void check_own_libraries(Suite& suite, const Runtime& runtime, const std::string& library) {
  setenv("ORTOLAN_ZOO", kTensorRtZoo, 1);
  runtime.ok(runtime.api->RegisterExecutionProviderLibrary(runtime.env, "tensorrt", library.c_str()));
  for (const char* name : {"TensorrtExecutionProvider", "NvTensorRTRTXExecutionProvider"}) {
    suite.check(std::string("own library: ") + name + " is the library's", 22, [&] {
      Handle<OrtSessionOptions> options = runtime.options();
      ask_for_cuda(runtime, options.get());
      runtime.ok(append(runtime, options.get(), name, {{"any_option", "1"}}));
      expect(entries(runtime, options.get()).empty(), "CUDA has entries");
      std::string chosen = devices_chosen(runtime, options.get(), library.c_str());
      expect(chosen.starts_with(std::string(name) + ":"), "the session has '" + chosen + "'");
    });
  }
  runtime.ok(runtime.api->UnregisterExecutionProviderLibrary(runtime.env, "tensorrt"));
}

int run(const char* library, const char* zoo) {
  Installed installed(library);
  Runtime runtime = open_runtime(installed.library().string(), 30);
  handle_of_library = dlopen(installed.library().c_str(), RTLD_NOW);
  Suite suite(30);
  runtime.ok(
      runtime.api->CreateEnvWithCustomLogger(keep_line, nullptr, ORT_LOGGING_LEVEL_WARNING, "nvidia", &runtime.env));
  check_absent(suite, runtime);
  setenv("ORTOLAN_ZOO", kCudaZoo, 1);
  std::string cuda = installed.add("libonnxruntime_ep_cuda.so", zoo);
  check_struct(suite, runtime);
  check_newer_struct(suite, runtime);
  check_names(suite, runtime, cuda.c_str());
  check_as_cuda(suite, runtime, cuda.c_str());
  check_own_libraries(suite, runtime, installed.add("libtensorrt_of_nvidia.so", zoo));
  runtime.api->ReleaseEnv(runtime.env);
  return suite.summary();
}

}  // namespace
}  // namespace ortolan::plugin_test

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: nvidia_host LIBRARY ZOO\n");
    return 99;
  }
  try {
    return ortolan::plugin_test::run(argv[1], argv[2]);
  } catch (const ortolan::plugin_test::Mismatch& mismatch) {
    std::fprintf(stderr, "nvidia_host: %s\n", mismatch.text.c_str());
    return 99;
  }
}
