// Giving pages back to the system.
#include "base/memory/pages.h"

#include <sys/mman.h>
#include <unistd.h>

namespace ortolan::base {

void give_back_pages(const void* block, size_t bytes) noexcept {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const AddressRange whole = whole_pages(reinterpret_cast<uintptr_t>(block), bytes, page);
  if (whole.bytes() > 0) madvise(reinterpret_cast<void*>(whole.begin), whole.bytes(), MADV_DONTNEED);
}

}  // namespace ortolan::base
