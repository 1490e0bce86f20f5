// CUDA by name, by the exported functions, and for every session.
#include "nvidia/settings.h"

namespace ortolan::plugin_test {
namespace {

void check_spellings(Suite& suite, const Runtime& runtime, const char* library) {
  for (const char* name : {"CUDA", "cuda", "CUDAExecutionProvider"}) {
    suite.check(std::string("name: ") + name + " with only what is given, on the device of that number", 22, [&] {
      Handle<OrtSessionOptions> options = runtime.options();
      runtime.ok(append(runtime, options.get(), name, {{"device_id", "1"}, {"use_tf32", "True"}}));
      expect_entries(runtime, options.get(), {{"device_id", "1"}, {"use_tf32", "1"}});
      expect_equal(devices_chosen(runtime, options.get(), library), "CUDAExecutionProvider: 1;", "the devices");
    });
  }
}

void check_functions(Suite& suite, const Runtime& runtime, const char* library) {
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
}

void check_threads_and_sessions(Suite& suite, const Runtime& runtime, const char* library) {
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

}  // namespace

void check_names(Suite& suite, const Runtime& runtime, const char* library) {
  check_spellings(suite, runtime, library);
  check_functions(suite, runtime, library);
  check_threads_and_sessions(suite, runtime, library);
}

}  // namespace ortolan::plugin_test
