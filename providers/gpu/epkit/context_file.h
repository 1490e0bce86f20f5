// Files beside a compiled model, with what the provider compiled.
#pragma once

#include <filesystem>

#include "gpu/core/host/host_tensor.h"

namespace ortolan::gpu::epkit {

/** The file appears whole or not at all. Throws Failure. */
void write_context_file(const std::filesystem::path& path, std::span<const std::byte> bytes);

/** The file `name` in a model's folder, mapped. Throws Failure unless it is a regular file beneath the folder; a link
 * is followed to what lies there, or beneath the folder that the model itself is in where `model` is a link. */
HostBytes map_context_file(const std::filesystem::path& folder, const std::filesystem::path& model,
                           const std::string& name);

}  // namespace ortolan::gpu::epkit
