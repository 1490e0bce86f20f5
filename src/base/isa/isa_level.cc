// Levels and their names.
#include "base/isa/isa_level.h"

#include <cstring>

namespace ortolan::base {

const char* isa_name(IsaLevel level) noexcept { return isa_levels()[static_cast<size_t>(level)].name; }

IsaLevel named_isa(const char* name) noexcept {
  const std::span<const NamedIsaLevel> levels = isa_levels();
  if (name == nullptr) return levels.back().level;
  for (const NamedIsaLevel& one : levels) {
    if (std::strcmp(name, one.name) == 0) return one.level;
  }
  if (std::strcmp(name, "generic") == 0) return IsaLevel::kGeneric;
#if defined(__x86_64__)
  if (std::strcmp(name, "avx512") == 0) return IsaLevel::kAvx512Vnni;
#endif
  return levels.back().level;
}

}  // namespace ortolan::base
