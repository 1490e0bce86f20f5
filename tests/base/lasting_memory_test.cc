// Lasting memory: blocks keep apart, lie side by side, are used again, and give their pages back.
#include "base/memory/lasting_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "base/memory/aligned_block.h"
#include "injected_faults.h"

namespace ortolan::base {
namespace {

constexpr size_t kMegabyte = size_t{1} << 20;

char* bytes_of(const std::shared_ptr<void>& block) { return static_cast<char*>(block.get()); }

/** How many of the pages wholly in [begin, begin + bytes) take memory. */
size_t resident_pages(const char* begin, size_t bytes) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  auto address = reinterpret_cast<uintptr_t>(begin);
  uintptr_t first = (address + page - 1) / page * page, last = (address + bytes) / page * page;
  std::vector<unsigned char> pages((last - first) / page);
  EXPECT_EQ(mincore(const_cast<char*>(begin) + (first - address), last - first, pages.data()), 0);
  size_t count = 0;
  for (unsigned char one : pages) count += one & 1;
  return count;
}

#ifdef __SANITIZE_ADDRESS__
constexpr bool kHasRegions = false;  // there each block is the allocator's, so that its ends are checked
#else
constexpr bool kHasRegions = true;
#endif

TEST(LastingMemory, BlocksAreAlignedAndKeepApart) {
  std::mt19937 random(7);
  struct Block {
    std::shared_ptr<void> memory;
    size_t bytes;
    char content;
  };
  std::vector<Block> blocks;
  for (int i = 0; i < 400; ++i) {
    if (!blocks.empty() && random() % 3 == 0) {
      size_t victim = random() % blocks.size();
      const auto& [memory, bytes, content] = blocks[victim];
      for (size_t at = 0; at < bytes; ++at) ASSERT_EQ(bytes_of(memory)[at], content) << i;
      blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(victim));
    }
    size_t bytes = 1 + random() % (random() % 20 == 0 ? 3 * kMegabyte : 5000);
    Block block{allocate_lasting(bytes), bytes, static_cast<char>(i)};
    ASSERT_EQ(reinterpret_cast<uintptr_t>(block.memory.get()) % kBlockAlignment, 0u);
    std::memset(block.memory.get(), block.content, bytes);
    blocks.push_back(std::move(block));
  }
}

TEST(LastingMemory, OneAfterTheOtherLiesSideBySide) {
  if (!kHasRegions) GTEST_SKIP() << "no regions under AddressSanitizer";
  auto first = allocate_lasting(8 * kMegabyte), second = allocate_lasting(1000), third = allocate_lasting(64);
  EXPECT_EQ(bytes_of(first) + 8 * kMegabyte, bytes_of(second));
  EXPECT_EQ(bytes_of(second) + 1024, bytes_of(third));
}

TEST(LastingMemory, EndedBlocksGiveTheirPagesBack) {
  if (!kHasRegions) GTEST_SKIP() << "no regions under AddressSanitizer";
  auto before = allocate_lasting(kMegabyte), block = allocate_lasting(kMegabyte), after = allocate_lasting(kMegabyte);
  for (const auto* one : {&before, &block, &after}) std::memset(one->get(), 1, kMegabyte);
  char* begin = bytes_of(block);
  ASSERT_GT(resident_pages(begin, kMegabyte), 0u);
  block.reset();
  EXPECT_EQ(resident_pages(begin, kMegabyte), 0u);
  EXPECT_EQ(bytes_of(before)[kMegabyte - 1], 1);
  EXPECT_EQ(bytes_of(after)[0], 1);
}

TEST(LastingMemory, PagesAreKeptForReuseUntilItEnds) {
  if (!kHasRegions) GTEST_SKIP() << "no regions under AddressSanitizer";
  auto reuse = std::make_unique<LastingReuse>();
  auto before = allocate_lasting(kMegabyte), one = allocate_lasting(kMegabyte), two = allocate_lasting(kMegabyte);
  auto after = allocate_lasting(kMegabyte);
  std::memset(one.get(), 1, kMegabyte);
  std::memset(two.get(), 1, kMegabyte);
  char* begin = bytes_of(one);
  one.reset();
  two.reset();
  EXPECT_GT(resident_pages(begin, 2 * kMegabyte), 0u);
  auto taken = allocate_lasting(kMegabyte + kMegabyte / 2);  // only both together have room
  EXPECT_EQ(bytes_of(taken), begin);
  { LastingReuse other; }
  EXPECT_GT(resident_pages(begin + 3 * kMegabyte / 2, kMegabyte / 2), 0u);
  reuse.reset();
  EXPECT_EQ(resident_pages(begin + 3 * kMegabyte / 2, kMegabyte / 2), 0u);
  EXPECT_EQ(bytes_of(taken)[0], 1);
}

/** Blocks that lie side by side, the second of them on a boundary of 64 KiB and ending within such a page. */
struct Neighbours {
  static constexpr size_t kBoundary = 65536, kBytes = kBoundary + 4096;

  Neighbours() {
    auto first = allocate_lasting(64);
    size_t left = kBoundary - (reinterpret_cast<uintptr_t>(first.get()) + 64) % kBoundary;
    before = allocate_lasting(left);
    block = allocate_lasting(kBytes);
    after = allocate_lasting(kBytes);
    for (const auto* one : {&block, &after}) std::memset(one->get(), 1, kBytes);
    std::memset(before.get(), 1, before_bytes = left);
  }
  bool lie_as_meant() const {
    return reinterpret_cast<uintptr_t>(block.get()) % kBoundary == 0 && bytes_of(block) + kBytes == bytes_of(after);
  }
  std::shared_ptr<void> before, block, after;
  size_t before_bytes = 0;
};

bool holds_ones(const std::shared_ptr<void>& block, size_t bytes) {
  return std::all_of(bytes_of(block), bytes_of(block) + bytes, [](char c) { return c == 1; });
}

TEST(LastingMemory, PagesOfNeighboursAreKeptWhateverTheirSize) {
  if (!kHasRegions) GTEST_SKIP() << "no regions under AddressSanitizer";
  for (size_t page : {size_t{16384}, size_t{65536}}) {
    for (bool trimmed : {false, true}) {
      const LargerPages larger(page);
      auto reuse = trimmed ? std::make_unique<LastingReuse>() : nullptr;
      Neighbours blocks;
      ASSERT_TRUE(blocks.lie_as_meant());
      blocks.block.reset();
      reuse.reset();
      EXPECT_TRUE(holds_ones(blocks.before, blocks.before_bytes)) << page;
      EXPECT_TRUE(holds_ones(blocks.after, Neighbours::kBytes)) << page << (trimmed ? " trimmed" : "");
    }
  }
}

TEST(LastingMemory, AnAllocationThatFailsLeavesAllAsItWas) {
  if (!kHasRegions) GTEST_SKIP() << "no regions under AddressSanitizer";
  auto kept = allocate_lasting(1000);
  std::memset(kept.get(), 1, 1000);
  char* const next = bytes_of(allocate_lasting(kMegabyte));
  bool failed = true;
  for (int works = 0; failed; ++works) {
    const FailingAllocation failing(works);
    try {
      auto block = allocate_lasting(kMegabyte);
      EXPECT_EQ(bytes_of(block), next) << works;
    } catch (const std::bad_alloc&) {
    }
    failed = failing.has_failed();
    ASSERT_LT(works, 100);
  }
  EXPECT_EQ(bytes_of(allocate_lasting(kMegabyte)), next);
  EXPECT_TRUE(holds_ones(kept, 1000));
}

TEST(LastingMemory, ARegionThatCannotBeMadeIsGivenUp) {
  if (!kHasRegions) GTEST_SKIP() << "no regions under AddressSanitizer";
  constexpr size_t kLarge = 32 * kMegabyte;  // two fill a region
  std::vector<std::shared_ptr<void>> blocks;
  bool failed = true;
  for (int works = 0; failed; ++works) {
    const FailingAllocation failing(works);
    try {
      blocks.push_back(allocate_lasting(kLarge));
    } catch (const std::bad_alloc&) {
    }
    failed = failing.has_failed();
    ASSERT_LT(works, 100);
  }
  ASSERT_FALSE(blocks.empty());
  blocks.push_back(allocate_lasting(kLarge));
  bytes_of(blocks.back())[kLarge - 1] = 1;
}

TEST(LastingMemory, ServesSeveralThreads) {
  auto work = [](unsigned seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < 200; ++i) {
      LastingReuse reuse;
      size_t bytes = 1 + random() % 100000;
      auto block = allocate_lasting(bytes);
      std::memset(block.get(), static_cast<int>(seed), bytes);
      for (size_t at = 0; at < bytes; ++at) ASSERT_EQ(bytes_of(block)[at], static_cast<char>(seed));
    }
  };
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 4; ++seed) threads.emplace_back(work, seed);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace ortolan::base
