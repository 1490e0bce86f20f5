// Provider options as texts, behind the opaque option structs.
#pragma once

#include <map>
#include <string>

#include "base/key_values.h"

namespace ortolan::api {

/** Behind OrtCUDAProviderOptionsV2, OrtTensorRTProviderOptionsV2, OrtCANNProviderOptions, OrtDnnlProviderOptions. */
struct ProviderOptions {
  base::KeyValues entries;
  std::map<std::string, void*> pointers;  // options that are addresses, as a compute stream
};

}  // namespace ortolan::api
