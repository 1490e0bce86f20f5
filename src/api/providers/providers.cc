// Execution providers: which there are, and asking for one in session options.
#include "api/arguments.h"
#include "api/guard.h"
#include "api/plugins/ep_selection.h"
#include "api/providers/absent_providers.h"
#include "api/providers/bundled_providers.h"
#include "api/providers/cuda_options.h"
#include "api/providers/provider_options.h"
#include "api/providers/tensorrt_options.h"
#include "runtime/session/session_options.h"

namespace ortolan::api {
namespace {

constexpr const char* kCpu = "CPUExecutionProvider";

/** Names of providers that programs may ask for and that this library does not contain. */
constexpr std::string_view kKnownAbsent[] = {
    "ACL",      "ArmNN",   "AZURE",         "CANN",     "CoreML", "CUDA",    "DML",    "Dnnl",  "JS",
    "MIGraphX", "NNAPI",   "NvTensorRTRTX", "OpenVINO", "QNN",    "RKNPU",   "ROCM",   "SNPE",  "TensorRT",
    "TVM",      "VitisAI", "VSINPU",        "WebGPU",   "WEBNN",  "XNNPACK", "OpenCL", "Vulkan"};

/** The provider's name without "ExecutionProvider", in our case of letters; empty when it is not known at all. */
std::string_view known_name(std::string_view name) {
  constexpr std::string_view kSuffix = "ExecutionProvider";
  if (name.ends_with(kSuffix)) name.remove_suffix(kSuffix.size());
  auto same_letter = [](char a, char b) { return std::tolower(a) == std::tolower(b); };
  for (std::string_view known : kKnownAbsent) {
    if (std::equal(known.begin(), known.end(), name.begin(), name.end(), same_letter)) return known;
  }
  return {};
}

void append_named(runtime::SessionOptions& options, std::string_view name, std::span<const char* const> keys,
                  std::span<const char* const> values) {
  auto settings = settings_from(keys.data(), values.data(), keys.size());
  std::string_view known = known_name(name);
  if (known == "CUDA") return void(append_cuda(options, std::move(settings)));
  if (known == "TensorRT") return append_tensorrt(options, settings);
  if (name != kCpu && append_registered(options, name, settings)) return;
  if (name != "CPU" && name != "cpu" && name != kCpu) {
    if (!known.empty()) fail_absent_provider(known);
    fail(ErrorCode::kInvalidArgument, "no execution provider is called '", name,
         "'; GetAvailableProviders lists those of this library");
  }
  options.providers.push_back({kCpu, std::move(settings)});
}

ProviderSettings settings_of(const ProviderOptions* options) {
  ProviderSettings settings;
  for (size_t i = 0; options != nullptr && i < options->entries.size(); ++i) {
    settings.emplace(options->entries.key(i), options->entries.value(i));
  }
  return settings;
}

/** The answer to asking for a provider that is not here: wrong arguments come first. */
OrtStatus* absent(OrtSessionOptions* options, const char* name) noexcept {
  return guard([&] {
    unwrap(options, "options");
    fail_absent_provider(name);
  });
}

/** Threads have no CUDA device of their own here. */
OrtStatus* no_current_device() noexcept {
  return guard([] {
    if (!is_here(*find_bundled("CUDA"))) fail_absent_provider("CUDA");
    fail(ErrorCode::kNotImplemented,
         "no thread has a current CUDA device here; sessions take theirs from the CUDA "
         "provider's option 'device_id'");
  });
}

}  // namespace

OrtStatus* ORT_API_CALL GetAvailableProviders(char*** out_ptr, int* provider_length) noexcept {
  return guard([&] {
    require_argument(out_ptr, "out_ptr");
    require_argument(provider_length, "provider_length");
    auto name = std::make_unique<char[]>(std::strlen(kCpu) + 1);
    std::strcpy(name.get(), kCpu);
    auto names = std::make_unique<char*[]>(1);
    names[0] = name.release();
    *out_ptr = names.release();
    *provider_length = 1;
  });
}

OrtStatus* ORT_API_CALL ReleaseAvailableProviders(char** ptr, int providers_length) noexcept {
  for (int i = 0; ptr != nullptr && i < providers_length; ++i) delete[] ptr[i];
  delete[] ptr;
  return nullptr;
}

OrtStatus* ORT_API_CALL SessionOptionsAppendExecutionProvider(OrtSessionOptions* options, const char* provider_name,
                                                              const char* const* provider_options_keys,
                                                              const char* const* provider_options_values,
                                                              size_t num_keys) noexcept {
  return guard([&] {
    append_named(unwrap(options, "options"), text(provider_name, "provider_name"),
                 array(provider_options_keys, num_keys, "provider_options_keys"),
                 array(provider_options_values, num_keys, "provider_options_values"));
  });
}

OrtStatus* ORT_API_CALL SessionOptionsAppendExecutionProvider_CUDA(OrtSessionOptions* options,
                                                                   const OrtCUDAProviderOptions* cuda) noexcept {
  return guard([&] { append_cuda(unwrap(options, "options"), cuda_settings(cuda)); });
}
OrtStatus* ORT_API_CALL SessionOptionsAppendExecutionProvider_CUDA_V2(OrtSessionOptions* options,
                                                                      const OrtCUDAProviderOptionsV2* cuda) noexcept {
  return guard([&] { append_cuda(unwrap(options, "options"), settings_of(unwrap_optional(cuda))); });
}
OrtStatus* ORT_API_CALL SessionOptionsAppendExecutionProvider_ROCM(OrtSessionOptions* options,
                                                                   const OrtROCMProviderOptions*) noexcept {
  return absent(options, "ROCM");
}
OrtStatus* ORT_API_CALL SessionOptionsAppendExecutionProvider_OpenVINO(OrtSessionOptions* options,
                                                                       const OrtOpenVINOProviderOptions*) noexcept {
  return absent(options, "OpenVINO");
}
OrtStatus* ORT_API_CALL SessionOptionsAppendExecutionProvider_OpenVINO_V2(OrtSessionOptions* options,
                                                                          const char* const*, const char* const*,
                                                                          size_t) noexcept {
  return absent(options, "OpenVINO");
}
OrtStatus* ORT_API_CALL SessionOptionsAppendExecutionProvider_TensorRT(
    OrtSessionOptions* options, const OrtTensorRTProviderOptions* tensorrt) noexcept {
  return guard([&] { append_tensorrt(unwrap(options, "options"), tensorrt_settings(tensorrt)); });
}
OrtStatus* ORT_API_CALL SessionOptionsAppendExecutionProvider_TensorRT_V2(
    OrtSessionOptions* options, const OrtTensorRTProviderOptionsV2* tensorrt) noexcept {
  return guard([&] { append_tensorrt(unwrap(options, "options"), settings_of(unwrap_optional(tensorrt))); });
}
OrtStatus* ORT_API_CALL SessionOptionsAppendExecutionProvider_MIGraphX(OrtSessionOptions* options,
                                                                       const OrtMIGraphXProviderOptions*) noexcept {
  return absent(options, "MIGraphX");
}
OrtStatus* ORT_API_CALL SessionOptionsAppendExecutionProvider_CANN(OrtSessionOptions* options,
                                                                   const OrtCANNProviderOptions*) noexcept {
  return absent(options, "CANN");
}
OrtStatus* ORT_API_CALL SessionOptionsAppendExecutionProvider_Dnnl(OrtSessionOptions* options,
                                                                   const OrtDnnlProviderOptions*) noexcept {
  return absent(options, "Dnnl");
}
OrtStatus* ORT_API_CALL SessionOptionsAppendExecutionProvider_VitisAI(OrtSessionOptions* options, const char* const*,
                                                                      const char* const*, size_t) noexcept {
  return absent(options, "VitisAI");
}

OrtStatus* ORT_API_CALL SetCurrentGpuDeviceId(int) noexcept { return no_current_device(); }
OrtStatus* ORT_API_CALL GetCurrentGpuDeviceId(int*) noexcept { return no_current_device(); }

OrtStatus* ORT_API_CALL GetExecutionProviderApi(const char* provider_name, uint32_t, const void**) noexcept {
  return guard([&] {
    fail(ErrorCode::kInvalidArgument, "execution provider '", text(provider_name, "provider_name"),
         "' has no functions of its own in this library");
  });
}

}  // namespace ortolan::api
