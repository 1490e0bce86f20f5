// Regions of address space that lasting blocks are cut from.
#include "base/memory/lasting_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "base/memory/aligned_block.h"
#include "base/memory/pages.h"

namespace ortolan::base {
namespace {

constexpr size_t kRegion = size_t{64} << 20;
constexpr size_t kLargestInRegion = size_t{32} << 20;  // a larger block is memory of its own
constexpr size_t kWorthHugePage = size_t{512} << 10;   // a first block that makes a region's first page huge

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
    size_t begin = hole->first;
    if (begin == 0 && bytes >= kWorthHugePage) madvise(memory_, kHugePage, MADV_HUGEPAGE);
    auto taken = free_.extract(hole);
    if (taken.mapped() > bytes) insert(std::move(taken), begin + bytes, taken.mapped() - bytes);
    return memory_ + begin;
  }

  /** Throws std::bad_alloc, with nothing changed, where the list of what is free cannot grow. */
  void end(void* block, size_t bytes) {
    auto begin = static_cast<size_t>(static_cast<char*>(block) - memory_);
    auto next = free_.lower_bound(begin);
    bool touches_next = next != free_.end() && begin + bytes == next->first;
    auto before = next == free_.begin() ? free_.end() : std::prev(next);
    if (before != free_.end() && before->first + before->second == begin) {
      before->second += bytes + (touches_next ? next->second : 0);
      if (touches_next) free_.erase(next);
    } else if (touches_next) {
      size_t room = bytes + next->second;
      insert(free_.extract(next), begin, room);
    } else {
      free_.emplace(begin, bytes);
    }
  }

  /** Gives the pages back that are wholly free. */
  void trim() {
    for (auto [begin, bytes] : free_) give_back_pages(memory_ + begin, bytes);
  }

 private:
  using Free = std::map<size_t, size_t>;  // bytes by offset; neighbours are joined

  void insert(Free::node_type range, size_t begin, size_t bytes) {
    range.key() = begin;
    range.mapped() = bytes;
    free_.insert(std::move(range));
  }

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

  Free free_{{0, kRegion}};
  char* const memory_;
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
    auto [region, block] = cut(bytes);
    // Unlocked: where the owner cannot be allocated, it ends the block.
    return {block, [this, region = region, bytes](void* ended) { end(*region, ended, bytes); }};
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
  /** A block and its region, which stays while the block is there. */
  std::pair<Region*, void*> cut(size_t bytes) {
    std::lock_guard lock(mutex_);
    for (const auto& region : regions_) {
      if (void* block = region->take(bytes)) return {region.get(), block};
    }
    Region& region = *regions_.emplace_back(std::make_unique<Region>());
    return {&region, region.take(bytes)};
  }

  void end(Region& region, void* block, size_t bytes) noexcept {
    std::lock_guard lock(mutex_);
    try {
      region.end(block, bytes);
    } catch (const std::bad_alloc&) {
      return give_back_pages(block, bytes);  // then its addresses cost nothing until the process ends
    }
    if (reusing_ > 0) return;
    give_back_pages(block, bytes);
    if (region.is_unused()) std::erase_if(regions_, [&](const auto& one) { return one.get() == &region; });
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
