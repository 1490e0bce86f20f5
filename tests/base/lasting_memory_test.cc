// Lasting memory: blocks keep apart, lie side by side, are used again, and give their pages back.
#include "base/lasting_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "base/aligned_block.h"

namespace ortolan::base {
namespace {

constexpr size_t kMegabyte = size_t{1} << 20;

char* bytes_of(const std::shared_ptr<void>& block) { return static_cast<char*>(block.get()); }

/** How many of the pages wholly in [begin, begin + bytes) take memory. */
size_t resident_pages(const char* begin, size_t bytes) {
  constexpr size_t kPage = 4096;
  auto address = reinterpret_cast<uintptr_t>(begin);
  uintptr_t first = (address + kPage - 1) / kPage * kPage, last = (address + bytes) / kPage * kPage;
  std::vector<unsigned char> pages((last - first) / kPage);
  EXPECT_EQ(mincore(const_cast<char*>(begin) + (first - address), last - first, pages.data()), 0);
  size_t count = 0;
  for (unsigned char page : pages) count += page & 1;
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
