// Aligned memory, on huge pages where it is large.
#include "base/memory/aligned_block.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>

#include "base/memory/pages.h"

namespace ortolan::base {

void* allocate_aligned(size_t bytes) noexcept {
  if (bytes > SIZE_MAX - kHugePage) return nullptr;
  bool large = bytes >= kHugePage;
  size_t rounded = rounded_up(bytes, kBlockAlignment);
  void* block = nullptr;
  if (posix_memalign(&block, large ? kHugePage : kBlockAlignment, rounded) != 0) return nullptr;
  // The part that is no whole huge page stays on small ones, so that no more memory is used than asked for.
  if (large) madvise(block, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  return block;
}

}  // namespace ortolan::base
