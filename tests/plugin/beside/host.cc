// beside_host LIBRARY PLUGIN DEVICELESS: providers that are asked for by their short names, with the plugin in the
// places of their libraries: one beside the library, one in the folder for providers, one nowhere, where then a plugin
// that lists no device comes. The exit code is the number of checks that failed. All of it is ours: other runtimes know
// no such names.
#include <dlfcn.h>
#include <functional>

#include <filesystem>

#include "conformance_host/runtime.h"
#include "ortolan.h"

namespace ortolan::plugin_test {
namespace {

namespace fs = std::filesystem;

/** A folder with the library and its providers, as they are installed. */
class Installed {
 public:
  Installed(const fs::path& library, const fs::path& plugin) : folder_(fs::absolute("beside_installed")) {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "ortolan-1/providers");
    fs::copy_file(fs::canonical(library), this->library());
    fs::copy_file(plugin, folder_ / "libonnxruntime_ep_opencl.so");
    fs::copy_file(plugin, folder_ / "ortolan-1/providers/libonnxruntime_ep_vulkan.so");
  }
  ~Installed() { fs::remove_all(folder_); }
  void add(const char* name, const fs::path& plugin) const { fs::copy_file(plugin, folder_ / name); }
  fs::path library() const { return folder_ / "libortolan.so.1"; }
  const fs::path& folder() const { return folder_; }

 private:
  const fs::path folder_;
};

/** The early form of the API. */
struct Early {
  void* handle;
  template <class Function>
  Function find(const char* name) const {
    return reinterpret_cast<Function>(dlsym(handle, name));
  }
};
#define EARLY(name) early.find<decltype(&(name))>(#name)

GraphText product() {
  GraphText graph;
  return graph.input("x", {3}).output("z", {3}).node("Mul", {"x", "x"}, {"z"});
}

void expect_on_plugin(const Runtime& runtime, const OrtSessionOptions* options) {
  Handle<OrtSession> session = runtime.session(product(), options);
  expect_equal(runtime.placement(session.get()).count(kCompileProvider), size_t{1}, "the plugin's part of the graph");
  Array x = ramp({3});
  expect_near(runtime.run(session.get(), {{"x", x}}, {"z"}).at(0), multiply(x, x), "z");
}

OrtStatus* append(const Runtime& runtime, OrtSessionOptions* options, const char* name) {
  return runtime.api->SessionOptionsAppendExecutionProvider(options, name, nullptr, nullptr, 0);
}

void check_factories(Suite& suite, const Runtime& runtime, const Early& early) {
  using Create = decltype(OrtCreateOpenCLExecutionProviderFactory);
  auto append_made = [&](Create* create, OrtSessionOptions* options, int device) {
    OrtProviderFactoryInterface** factory = nullptr;
    runtime.ok(create(device, &factory));
    OrtStatus* status = EARLY(OrtSessionOptionsAppendExecutionProvider)(options, factory);
    expect_equal(EARLY(OrtReleaseObject)(factory), 0u, "owners left");
    return status;
  };
  suite.check("factory: a library beside ours", 22, [&] {
    Handle<OrtSessionOptions> options = runtime.options();
    runtime.ok(append_made(EARLY(OrtCreateOpenCLExecutionProviderFactory), options.get(), 0));
    expect_on_plugin(runtime, options.get());
  });
  suite.check("factory: a library in the folder for providers", 22, [&] {
    Handle<OrtSessionOptions> options = runtime.options();
    runtime.ok(append_made(EARLY(OrtCreateVulkanExecutionProviderFactory), options.get(), 0));
    expect_on_plugin(runtime, options.get());
  });
  suite.check("factory: a device that is not there", 22, [&] {
    Handle<OrtSessionOptions> options = runtime.options();
    for (int device : {1, -1}) {
      runtime.fails(append_made(EARLY(OrtCreateOpenCLExecutionProviderFactory), options.get(), device),
                    "device " + std::to_string(device) + " is not one of the 1");
    }
  });
}

void check_names(Suite& suite, const Runtime& runtime) {
  for (const char* name : {"OpenCL", "opencl", "OpenCLExecutionProvider", "Vulkan"}) {
    suite.check(std::string("name: ") + name, 22, [&] {
      Handle<OrtSessionOptions> options = runtime.options();
      runtime.ok(append(runtime, options.get(), name));
      expect_on_plugin(runtime, options.get());
    });
  }
  suite.check("name: what is loaded for it is registered once", 22, [&] {
    expect_equal(runtime.devices(kCompileProvider).size(), size_t{2}, "devices of the two libraries");
  });
}

void check_absent(Suite& suite, const Runtime& runtime, const Early& early, const Installed& installed) {
  Handle<OrtSessionOptions> options = runtime.options();
  auto expect_advice = [&](const std::function<OrtStatus*()>& ask) {
    std::string text = runtime.fails(ask(), "CUDA execution provider is not available");
    std::string library = "libonnxruntime_ep_cuda.so";
    for (const std::string& part : {std::string("libortolan-cuda"), (installed.folder() / library).string(),
                                    (installed.folder() / "ortolan-1/providers" / library).string()}) {
      expect(text.find(part) != std::string::npos, "the error does not mention '" + part + "': " + text);
    }
  };
  suite.check("absent: by name", 22, [&] { expect_advice([&] { return append(runtime, options.get(), "CUDA"); }); });
  suite.check("absent: by a factory", 22, [&] {
    OrtProviderFactoryInterface** factory = nullptr;
    expect_advice([&] { return EARLY(OrtCreateCUDAExecutionProviderFactory)(0, &factory); });
    expect(factory == nullptr, "there is a factory");
  });
  suite.check("absent: by a function of its own", 22, [&] {
    OrtCUDAProviderOptions cuda{};
    expect_advice([&] { return runtime.api->SessionOptionsAppendExecutionProvider_CUDA(options.get(), &cuda); });
  });
}

/** What is said does not change when it is asked for again. */
void check_deviceless(Suite& suite, const Runtime& runtime) {
  suite.check("a library that lists no device", 22, [&] {
    Handle<OrtSessionOptions> options = runtime.options();
    for (int i = 0; i < 2; i++) {
      runtime.fails(append(runtime, options.get(), "CUDA"), "CUDA execution provider finds no device on this machine");
    }
  });
}

/** What every session gets, unless it must not be missing. */
void check_every_session(Suite& suite, const Runtime& runtime, const Early& early) {
  auto expect_session = [&](const char* name, int required, const char* error) {
    runtime.ok(EARLY(OrtEnvClearExecutionProviders)(runtime.env));
    runtime.ok(EARLY(OrtEnvAppendExecutionProvider)(runtime.env, name, nullptr, nullptr, 0, required));
    Handle<OrtSessionOptions> options = runtime.options();
    if (error != nullptr) {
      runtime.fails(runtime.try_session(product(), options.get()), error);
    } else {
      runtime.ok(runtime.try_session(product(), options.get()));
    }
    runtime.ok(EARLY(OrtEnvClearExecutionProviders)(runtime.env));
  };
  suite.check("every session: a provider that is beside ours", 24, [&] { expect_session("opencl", 1, nullptr); });
  suite.check("every session: one without a device", 24, [&] { expect_session("CUDA", 0, nullptr); });
  suite.check("every session: one without a device that must not be missing", 24,
              [&] { expect_session("CUDA", 1, "CUDA execution provider finds no device"); });
}

void check_no_environment(Suite& suite, const Runtime& runtime) {
  suite.check("name: without an environment", 22, [&] {
    Handle<OrtSessionOptions> options = runtime.options();
    runtime.fails(append(runtime, options.get(), "OpenCL"),
                  "OpenCL execution provider is not available: there is no environment");
  });
}

int run(char** argv) {
  Installed installed(argv[1], argv[2]);
  Runtime runtime = open_runtime(installed.library().string(), 30);
  Early early{dlopen(installed.library().c_str(), RTLD_NOW)};
  Suite suite(30);
  check_no_environment(suite, runtime);
  runtime.ok(EARLY(OrtInitialize)(ORT_LOGGING_LEVEL_FATAL, "beside", &runtime.env));
  check_absent(suite, runtime, early, installed);
  installed.add("libonnxruntime_ep_cuda.so", argv[3]);
  check_deviceless(suite, runtime);
  check_every_session(suite, runtime, early);
  check_factories(suite, runtime, early);
  check_names(suite, runtime);
  EARLY(OrtReleaseObject)(runtime.env);
  return suite.summary();
}

}  // namespace
}  // namespace ortolan::plugin_test

int main(int argc, char** argv) {
  return ortolan::plugin_test::run_checks(argc, argv, "beside_host LIBRARY PLUGIN DEVICELESS",
                                          ortolan::plugin_test::run);
}
