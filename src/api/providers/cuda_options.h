// The CUDA provider's options: their keys and spellings, the struct of fixed layout, and how sessions get them.
#pragma once

#include <string>
#include <string_view>

#include "api/plugins/ep_selection.h"
#include "onnxruntime_c_api.h"

namespace ortolan::api {

/** Every key with its default, spelled as GetCUDAProviderOptionsAsString spells values. */
const ProviderSettings& cuda_defaults();

/** The value of a key in that spelling; what is given for keys that are not among the defaults, which the provider's
    library judges. Throws where the key cannot have the value. */
std::string cuda_value(std::string_view key, std::string_view value);

/** An address as the value of a key. */
std::string address_text(const void* address);

/** What an arena's settings are for the provider. */
ProviderSettings arena_settings(const OrtArenaCfg& arena);

/** All settings that the struct stands for. NULL: the defaults. */
ProviderSettings cuda_settings(const OrtCUDAProviderOptions* options);

/** The number of the device that the settings, or else the options' entries, ask for. */
int cuda_device(const runtime::SessionOptions& options, const ProviderSettings& settings);

/** The session's entry with which TensorRT's names stand for this provider, where it is "1". */
inline constexpr const char* kTensorRtAsCuda = "ortolan.tensorrt_as_cuda";

/** Adds the provider on its device number "device_id", with the settings spelled as above. Defaults among the settings
    leave entries alone that the options have. Where the provider is there already and TensorRT's names stand for it, it
    stays as it is, but for settings that it lacks. Throws where the provider is not here. */
runtime::ProviderRequest& append_cuda(runtime::SessionOptions& options, ProviderSettings settings);

}  // namespace ortolan::api
