// Types of matrices in SPIR-V that compilers without an extension for them make of numbers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ortolan::gpu::vulkan {

constexpr uint32_t kMatricesCapability = 6022;  // CooperativeMatrixKHR

/** The module, where types of matrices (OpTypeCooperativeMatrixKHR) have constants for what they consist of: the bits
 * of the elements' type, floats, and the ids of the specialisation constants that say how many rows and columns there
 * are. The result has that type and these constants instead, and no names. Throws std::runtime_error for what there is
 * not. */
std::vector<uint32_t> with_matrix_types(std::span<const uint32_t> module);

}  // namespace ortolan::gpu::vulkan
