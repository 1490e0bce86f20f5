// Regions of address space that lasting blocks are cut from.
#include "base/lasting_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <vector>

#include "base/aligned_block.h"

namespace ortolan::base {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kRegion = size_t{64} << 20;
constexpr size_t kLargestInRegion = size_t{32} << 20;  // a larger block is memory of its own
constexpr size_t kWorthHugePage = size_t{512} << 10;   // a first block that makes a region's first page huge

size_t rounded_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }
size_t rounded_down(size_t bytes, size_t unit) { return bytes / unit * unit; }

/** Address space that blocks are cut from, lowest first. Pages take memory when they are first used. Not safe for
    several threads: Regions locks. */
class Region {
 public:
  Region() : memory_(allocate()) { madvise(memory_ + kHugePage, kRegion - kHugePage, MADV_HUGEPAGE); }
  ~Region() { munmap(memory_, kRegion); }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  bool is_unused() const { return free_.size() == 1 && free_.begin()->second == kRegion; }

  /** NULL where too little is left in one piece. */
  void* take(size_t bytes) {
    auto hole = std::ranges::find_if(free_, [&](const auto& range) { return range.second >= bytes; });
    if (hole == free_.end()) return nullptr;
    auto [begin, room] = *hole;
    if (begin == 0 && bytes >= kWorthHugePage) madvise(memory_, kHugePage, MADV_HUGEPAGE);
    free_.erase(hole);
    if (room > bytes) free_.emplace(begin + bytes, room - bytes);
    return memory_ + begin;
  }

  void end(void* block, size_t bytes) {
    auto begin = static_cast<size_t>(static_cast<char*>(block) - memory_);
    auto next = free_.lower_bound(begin);
    if (next != free_.begin()) {
      auto before = std::prev(next);
      if (before->first + before->second == begin) {
        begin = before->first;
        bytes += before->second;
        free_.erase(before);
      }
    }
    if (next != free_.end() && begin + bytes == next->first) {
      bytes += next->second;
      free_.erase(next);
    }
    free_.emplace(begin, bytes);
  }

  /** Gives the pages back that are wholly free. */
  void trim() {
    for (auto [begin, bytes] : free_) {
      size_t first = rounded_up(begin, kPage), last = rounded_down(begin + bytes, kPage);
      if (first < last) madvise(memory_ + first, last - first, MADV_DONTNEED);
    }
  }

 private:
  /** Aligned to huge pages. */
  static char* allocate() {
    size_t room = kRegion + kHugePage;
    void* memory = mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    char* begin = static_cast<char*>(memory);
    size_t before = rounded_up(reinterpret_cast<uintptr_t>(begin), kHugePage) - reinterpret_cast<uintptr_t>(begin);
    if (before != 0) munmap(begin, before);
    if (before != kHugePage) munmap(begin + before + kRegion, kHugePage - before);
    return begin + before;
  }

  char* const memory_;
  std::map<size_t, size_t> free_{{0, kRegion}};  // bytes by offset; neighbours are joined
};

/** All regions of the process. */
class Regions {
 public:
  /** Never destroyed: blocks may outlive every static object. */
  static Regions& all() {
    static Regions* const regions = new Regions;
    return *regions;
  }

  std::shared_ptr<void> take(size_t bytes) {
    std::lock_guard lock(mutex_);
    for (const auto& region : regions_) {
      if (void* block = region->take(bytes)) return shared(*region, block, bytes);
    }
    Region& region = *regions_.emplace_back(std::make_unique<Region>());
    return shared(region, region.take(bytes), bytes);
  }

  void begin_reuse() {
    std::lock_guard lock(mutex_);
    ++reusing_;
  }
  void end_reuse() {
    std::lock_guard lock(mutex_);
    if (--reusing_ == 0) trim();
  }

 private:
  std::shared_ptr<void> shared(Region& region, void* block, size_t bytes) {
    return {block, [this, &region, bytes](void* ended) { end(region, ended, bytes); }};
  }

  void end(Region& region, void* block, size_t bytes) {
    std::lock_guard lock(mutex_);
    if (reusing_ == 0) give_back(block, bytes);
    try {
      region.end(block, bytes);
    } catch (const std::bad_alloc&) {
      return;  // without its pages the block's addresses cost nothing until the process ends
    }
    if (reusing_ == 0 && region.is_unused()) {
      std::erase_if(regions_, [&](const auto& one) { return one.get() == &region; });
    }
  }

  /** The pages that are all the block's. */
  static void give_back(void* block, size_t bytes) {
    auto address = reinterpret_cast<uintptr_t>(block);
    uintptr_t first = rounded_up(address, kPage), last = rounded_down(address + bytes, kPage);
    if (first < last) madvise(static_cast<char*>(block) + (first - address), last - first, MADV_DONTNEED);
  }

  void trim() {
    std::erase_if(regions_, [](const auto& region) { return region->is_unused(); });
    for (const auto& region : regions_) region->trim();
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Region>> regions_;
  int reusing_ = 0;
};

}  // namespace

std::shared_ptr<void> allocate_lasting(size_t bytes) {
#ifndef __SANITIZE_ADDRESS__
  if (bytes != 0 && bytes <= kLargestInRegion) return Regions::all().take(rounded_up(bytes, kBlockAlignment));
#endif
  void* block = allocate_aligned(bytes);
  if (block == nullptr) throw std::bad_alloc();
  return {block, std::free};
}

LastingReuse::LastingReuse() { Regions::all().begin_reuse(); }
LastingReuse::~LastingReuse() { Regions::all().end_reuse(); }

}  // namespace ortolan::base
