// Names for lists of provider options that some programs use.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

namespace onnxruntime {

/** Options of one provider by key. */
using ProviderOptions = std::unordered_map<std::string, std::string>;
/** Options of several providers. */
using ProviderOptionsVector = std::vector<ProviderOptions>;
/** The same by the names of the providers. */
using ProviderOptionsMap = std::unordered_map<std::string, ProviderOptions>;

}  // namespace onnxruntime
