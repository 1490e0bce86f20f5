// Memory for tensors.
#pragma once

#include <cstddef>

namespace ortolan::base {

inline constexpr size_t kBlockAlignment = 64;

/** `bytes` of uninitialised memory, aligned to kBlockAlignment; nullptr where the system has not that much. Free it
   with std::free. Large blocks ask for huge pages, whose first use costs a fraction of that of as many small ones. */
void* allocate_aligned(size_t bytes) noexcept;

}  // namespace ortolan::base
