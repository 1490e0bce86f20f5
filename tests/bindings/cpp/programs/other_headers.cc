// A program that includes all headers that come with the usual one, and finds its provider by their names.
#include <cpu_provider_factory.h>
#include <onnxruntime_cxx_api.h>
#include <onnxruntime_cxx_inline.h>
#include <onnxruntime_ep_device_ep_metadata_keys.h>
#include <onnxruntime_float16.h>
#include <onnxruntime_lite_custom_op.h>
#include <onnxruntime_run_options_config_keys.h>
#include <onnxruntime_session_options_config_keys.h>
#include <provider_options.h>

#include <cstdio>

int main(int argc, char* argv[]) {
  if (argc != 3) return 2;
  Ort::Env env;
  const onnxruntime::ProviderOptions provider_options;
  Ort::SessionOptions options;
  options.AddConfigEntry(kOrtSessionOptionsDisableCPUEPFallback, "0");
  Ort::ThrowOnError(OrtSessionOptionsAppendExecutionProvider_CPU(options, 1));
  Ort::Session session(env, argv[1], options);
  Ort::RunOptions run_options;
  run_options.AddConfigEntry(kOrtRunOptionsConfigEnableMemoryArenaShrinkage, "cpu:0");

  env.RegisterExecutionProviderLibrary("example", argv[2]);
  bool right = false;
  for (const auto& device : env.GetEpDevices()) {
    const char* path = device.EpMetadata().GetValue(kOrtEpDevice_EpMetadataKey_LibraryPath);
    const char* version = device.EpMetadata().GetValue(kOrtEpDevice_EpMetadataKey_Version);
    if (version == nullptr) return 3;
    if (path != nullptr) right |= std::string(path) == argv[2];
    std::printf("%s %s\n", device.EpName(), version);
  }
  env.UnregisterExecutionProviderLibrary("example");
  return right && provider_options.empty() ? 0 : 1;
}
