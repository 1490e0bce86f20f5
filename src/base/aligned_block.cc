// Aligned memory, on huge pages where it is large.
#include "base/aligned_block.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>

namespace ortolan::base {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kRegion = size_t{32} << 20;
constexpr size_t kLargestInRegion = size_t{4} << 20;  // a larger block is a region of its own
constexpr size_t kWorthHugePage = size_t{512} << 10;  // a first block that makes a region's first page huge

size_t rounded_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

/** Address space that blocks are cut from, one after the other. Pages take memory when they are first used. */
class Region {
 public:
  Region() : memory_(allocate()) {
    char* first = static_cast<char*>(memory_);
    madvise(first + kHugePage, kRegion - kHugePage, MADV_HUGEPAGE);
  }
  ~Region() { munmap(memory_, kRegion); }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  /** NULL where too little is left. */
  void* take(size_t bytes) {
    std::lock_guard lock(mutex_);
    if (bytes > kRegion - used_) return nullptr;
    if (used_ == 0 && bytes >= kWorthHugePage) madvise(memory_, kHugePage, MADV_HUGEPAGE);
    char* block = static_cast<char*>(memory_) + used_;
    used_ += bytes;
    return block;
  }

  /** Ends a block: the newest is cut anew next time; of others the pages that are all theirs go back to the system. */
  void end(void* block, size_t bytes) {
    constexpr size_t kPage = 4096;
    std::lock_guard lock(mutex_);
    char* begin = static_cast<char*>(block);
    if (begin + bytes == static_cast<char*>(memory_) + used_) {
      used_ -= bytes;
      return;
    }
    auto address = reinterpret_cast<uintptr_t>(begin);
    uintptr_t first = rounded_up(address, kPage), last = (address + bytes) / kPage * kPage;
    if (first < last) madvise(begin + (first - address), last - first, MADV_DONTNEED);
  }

 private:
  /** Aligned to huge pages. */
  static void* allocate() {
    size_t room = kRegion + kHugePage;
    void* memory = mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    char* begin = static_cast<char*>(memory);
    size_t before = rounded_up(reinterpret_cast<uintptr_t>(begin), kHugePage) - reinterpret_cast<uintptr_t>(begin);
    if (before != 0) munmap(begin, before);
    if (before != kHugePage) munmap(begin + before + kRegion, kHugePage - before);
    return begin + before;
  }

  void* const memory_;
  std::mutex mutex_;
  size_t used_ = 0;
};

/** The region that blocks are cut from at present; it lives as long as any block in it. */
struct Newest {
  std::mutex mutex;
  std::weak_ptr<Region> region;
};

std::shared_ptr<void> cut_block(size_t bytes) {
  static Newest* const newest = new Newest;
  std::lock_guard lock(newest->mutex);
  auto region = newest->region.lock();
  void* block = region != nullptr ? region->take(bytes) : nullptr;
  if (block == nullptr) {
    region = std::make_shared<Region>();
    newest->region = region;
    block = region->take(bytes);
  }
  return {block, [region, bytes](void* ended) { region->end(ended, bytes); }};
}

}  // namespace

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

std::shared_ptr<void> allocate_lasting(size_t bytes) {
#ifndef __SANITIZE_ADDRESS__
  if (bytes != 0 && bytes <= kLargestInRegion) return cut_block(rounded_up(bytes, kBlockAlignment));
#endif
  void* block = allocate_aligned(bytes);
  if (block == nullptr) throw std::bad_alloc();
  return {block, std::free};
}

}  // namespace ortolan::base
