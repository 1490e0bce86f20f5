// The names that ONNX Runtime's CUDA provider has for its options.
#pragma once

#include "gpu/epkit/options.h"

namespace ortolan::gpu::cuda {

/** All are accepted, with the values that they have there; README.md says which mean nothing here. */
std::span<const epkit::ProviderOption> official_options();

}  // namespace ortolan::gpu::cuda
