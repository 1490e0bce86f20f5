// Provider options as texts, behind the opaque option structs.
#pragma once

#include "base/key_values.h"

namespace ortolan::api {

/** Behind OrtCUDAProviderOptionsV2, OrtTensorRTProviderOptionsV2, OrtCANNProviderOptions, OrtDnnlProviderOptions. */
struct ProviderOptions {
  base::KeyValues entries;  // an address, as of a compute stream, is a decimal number
};

}  // namespace ortolan::api
