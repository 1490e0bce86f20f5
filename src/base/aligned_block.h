// Memory for tensors and packed weights.
#pragma once

#include <cstddef>
#include <memory>

namespace ortolan::base {

inline constexpr size_t kBlockAlignment = 64;

/** `bytes` of uninitialised memory, aligned to kBlockAlignment; nullptr where the system has not that much. Free it
   with std::free. Large blocks ask for huge pages, whose first use costs a fraction of that of as many small ones. */
void* allocate_aligned(size_t bytes) noexcept;

/** The same for memory that lives long, such as a session's weights: blocks made one after the other lie side by side,
    where processors that read them in that order fetch ahead from one into the next, and share huge pages. Throws
    std::bad_alloc. May be called by any thread. */
std::shared_ptr<void> allocate_lasting(size_t bytes);

}  // namespace ortolan::base
