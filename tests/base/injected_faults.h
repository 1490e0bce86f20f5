// Faults that the system has in store for others: allocations that fail, and pages larger than this machine's.
#pragma once

#include <cstddef>

namespace ortolan::base {

/** While it lives, the calling thread's operator new works `works` times, fails once, and works again. */
class FailingAllocation {
 public:
  explicit FailingAllocation(int works);
  ~FailingAllocation();
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;
  /** False where fewer allocations were asked for. */
  bool has_failed() const;
};

/** While it lives, the system says that pages have `bytes` bytes, and gives memory back as a system with such pages
    does: it refuses a block that begins within a page, and rounds its length up. */
class LargerPages {
 public:
  explicit LargerPages(size_t bytes);
  ~LargerPages();
  LargerPages(const LargerPages&) = delete;
  LargerPages& operator=(const LargerPages&) = delete;
};

}  // namespace ortolan::base
