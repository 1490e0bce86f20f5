// nvidia_host LIBRARY ZOO: CUDA's and TensorRT's names, functions and option structs, and what of them reaches a
// provider library, which stands beside the library as CUDA's and lists two devices. The exit code is the number of
// checks that failed. All of it is ours: other runtimes have these providers in libraries of another kind.
#include <filesystem>

#include "nvidia/settings.h"

namespace ortolan::plugin_test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCudaZoo = "CUDAExecutionProvider,NVIDIA,10de|1,10de,NVIDIA,1|1,10de,NVIDIA,1";
constexpr const char* kTensorRtZoo =
    "TensorrtExecutionProvider,NVIDIA,10de|1,10de,NVIDIA,1;NvTensorRTRTXExecutionProvider,NVIDIA,10de|1,10de,NVIDIA,1";

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

int run(char** argv) {
  const fs::path zoo = argv[2];
  Installed installed(argv[1]);
  Runtime runtime = open_runtime(installed.library().string(), 30);
  handle_of_library = dlopen(installed.library().c_str(), RTLD_NOW);
  Suite suite(30);
  runtime.ok(
      runtime.api->CreateEnvWithCustomLogger(keep_line, nullptr, ORT_LOGGING_LEVEL_WARNING, "nvidia", &runtime.env));
  check_absent(suite, runtime);
  setenv("ORTOLAN_ZOO", kCudaZoo, 1);
  std::string cuda = installed.add("libonnxruntime_ep_cuda.so", zoo);
  check_structs(suite, runtime);
  check_names(suite, runtime, cuda.c_str());
  check_as_cuda(suite, runtime, cuda.c_str());
  check_own_libraries(suite, runtime, installed.add("libtensorrt_of_nvidia.so", zoo));
  runtime.api->ReleaseEnv(runtime.env);
  return suite.summary();
}

}  // namespace
}  // namespace ortolan::plugin_test

int main(int argc, char** argv) {
  return ortolan::plugin_test::run_checks(argc, argv, "nvidia_host LIBRARY ZOO", ortolan::plugin_test::run);
}
