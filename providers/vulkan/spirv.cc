// Chooses variants, and reads what a pipeline must know of them.
#include "vulkan/spirv.h"

#include <algorithm>
#include <string>

#include "gpu/device/error.h"
#include "vulkan/matrix_types.h"

namespace ortolan::gpu::vulkan {
namespace {

constexpr uint32_t kInt64 = 1, kSubgroup = 2, kIntDot = 4, kNoSteps = 8;
constexpr size_t kHeaderWords = 5;
constexpr uint32_t kOpCapability = 17;
constexpr uint32_t kOpDecorate = 71, kBindingDecoration = 33;

uint32_t switches_of(const Features& features, bool has_steps) {
  return (features.int64 ? kInt64 : 0) | (features.subgroup ? kSubgroup : 0) | (features.int_dot ? kIntDot : 0) |
         (has_steps ? 0 : kNoSteps);
}

}  // namespace

const SpirvVariant& spirv_of(std::string_view name, const Features& features, bool has_steps) {
  for (const SpirvVariant& variant : spirv_variants()) {
    if (variant.name == name && variant.on == (switches_of(features, has_steps) & variant.known)) return variant;
  }
  throw Error(ErrorKind::kInternal, "vulkan: kernel " + std::string(name) + ": it was not compiled with this library");
}

bool has_matrices(std::span<const uint32_t> spirv) {
  for (size_t at = kHeaderWords; at + 1 < spirv.size() && (spirv[at] & 0xffff) == kOpCapability; at += 2) {
    if (spirv[at + 1] == kMatricesCapability) return true;
  }
  return false;
}

uint32_t count_bindings(std::span<const uint32_t> spirv) {
  uint32_t count = 0;
  for (size_t at = kHeaderWords; at < spirv.size(); at += std::max(spirv[at] >> 16, 1u)) {
    bool is_binding = (spirv[at] & 0xffff) == kOpDecorate && spirv[at + 2] == kBindingDecoration;
    if (is_binding) count = std::max(count, spirv[at + 3] + 1);
  }
  return count;
}

}  // namespace ortolan::gpu::vulkan
