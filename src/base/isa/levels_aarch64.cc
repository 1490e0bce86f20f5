// The levels of aarch64, by what the system says of the processor.
#include <sys/auxv.h>

#include "base/isa/isa_level.h"

namespace ortolan::base {
namespace {

constexpr NamedIsaLevel kLevels[] = {
    {IsaLevel::kGeneric, "neon"},
    {IsaLevel::kDotprod, "dotprod"},
    {IsaLevel::kI8mm, "i8mm"},
};

// Of AT_HWCAP and AT_HWCAP2; headers of older systems lack the later ones.
constexpr unsigned long kHasDotprod = 1ul << 20;
constexpr unsigned long kHasI8mm = 1ul << 13, kHasBfloat16 = 1ul << 14;

}  // namespace

std::span<const NamedIsaLevel> isa_levels() noexcept { return kLevels; }

bool has_isa(IsaLevel level, IsaLevel detected) noexcept { return level <= detected; }

IsaLevel detect_isa(IsaLevel) noexcept {
  if ((getauxval(AT_HWCAP) & kHasDotprod) == 0) return IsaLevel::kGeneric;
  constexpr unsigned long kNeeded = kHasI8mm | kHasBfloat16;
  return (getauxval(AT_HWCAP2) & kNeeded) == kNeeded ? IsaLevel::kI8mm : IsaLevel::kDotprod;
}

}  // namespace ortolan::base
