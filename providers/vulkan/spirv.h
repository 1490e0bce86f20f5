// The kernels as SPIR-V, compiled with this library.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "vulkan/features.h"

namespace ortolan::gpu::vulkan {

/** A kernel as it was compiled with some of the switches that its text knows. */
struct SpirvVariant {
  std::string_view name;
  uint32_t known, on;  // switches
  std::span<const uint32_t> words;
};

std::span<const SpirvVariant> spirv_variants();

/** The variant for a device with these features, and for a kernel with steps behind its product or without. Throws
 * kInternal where there is no kernel of that name. */
const SpirvVariant& spirv_of(std::string_view name, const Features& features, bool has_steps);

/** Whether a kernel has matrices that matrix units take whole. */
bool has_matrices(std::span<const uint32_t> spirv);

/** How many buffers a kernel has: those of its bindings, which begin at 0. */
uint32_t count_bindings(std::span<const uint32_t> spirv);

}  // namespace ortolan::gpu::vulkan
