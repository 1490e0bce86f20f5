// The levels of an architecture that has none of its own.
#include "base/isa/isa_level.h"

namespace ortolan::base {
namespace {

constexpr NamedIsaLevel kLevels[] = {{IsaLevel::kGeneric, "generic"}};

}  // namespace

std::span<const NamedIsaLevel> isa_levels() noexcept { return kLevels; }
bool has_isa(IsaLevel level, IsaLevel detected) noexcept { return level <= detected; }
int streaming_bytes(IsaLevel) noexcept { return 0; }
IsaLevel detect_isa(IsaLevel) noexcept { return IsaLevel::kGeneric; }

}  // namespace ortolan::base
