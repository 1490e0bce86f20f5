// TensorRT's names and options, which the CUDA provider takes over where a session asks for that.
#pragma once

#include "api/plugins/ep_selection.h"
#include "onnxruntime_c_api.h"

namespace ortolan::api {

/** All settings that the struct stands for. NULL: none. */
ProviderSettings tensorrt_settings(const OrtTensorRTProviderOptions* options);

/** Adds the provider of that name where a registered library has it; else, where the session's entry
    ortolan.tensorrt_as_cuda is 1, the CUDA provider with what the settings mean for it. Throws where neither is so. */
void append_tensorrt(runtime::SessionOptions& options, const ProviderSettings& settings);

}  // namespace ortolan::api
