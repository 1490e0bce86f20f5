// The arena: alignment, reuse, limits, statistics, shrinking, and random traffic from several threads.
#include "tensor/arena.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>

#include "../thrown_text.h"
#include "base/error.h"

namespace ortolan::tensor {
namespace {

TEST(Arena, BlocksAreAlignedAndZeroBytesGiveNull) {
  Arena arena;
  EXPECT_EQ(arena.allocate(0), nullptr);
  EXPECT_EQ(arena.info().allocator_type, 1);
  for (size_t bytes : {1, 63, 64, 65, 1000, 5000000}) {
    void* block = arena.allocate(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 64, 0u) << bytes;
    std::memset(block, 1, bytes);
    arena.free(block);
  }
  EXPECT_EQ(arena.stats().in_use, 0);
}

TEST(Arena, FreedBlocksJoinAndAreReused) {
  Arena arena({.initial_region = 4096});
  void* a = arena.allocate(1024);
  void* b = arena.allocate(1024);
  void* c = arena.allocate(1024);
  EXPECT_EQ(arena.stats().arena_extensions, 1);
  arena.free(a);
  arena.free(c);
  arena.free(b);
  void* whole = arena.allocate(4096);
  EXPECT_EQ(whole, a);
  EXPECT_EQ(arena.stats().arena_extensions, 1);
  arena.free(whole);
}

TEST(Arena, LimitIsKept) {
  Arena arena({.limit = 8192, .extend_strategy = 1});
  void* a = arena.allocate(6000);
  try {
    arena.allocate(4096);
    FAIL() << "must throw";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ErrorCode::kFail);
    EXPECT_NE(error.text().find("limit of 8192"), std::string::npos) << error.text();
  }
  void* b = arena.allocate(1024);
  EXPECT_LE(arena.stats().total_allocated, 8192);
  arena.free(a);
  arena.free(b);
}

TEST(Arena, ShrinkGivesIdleRegionsBack) {
  Arena arena({.extend_strategy = 1});
  void* a = arena.allocate(4096);
  void* b = arena.allocate(8192);
  arena.free(b);
  arena.shrink();
  EXPECT_EQ(arena.stats().total_allocated, 4096);
  EXPECT_EQ(arena.stats().arena_shrinkages, 1);
  arena.free(a);
  arena.shrink();
  EXPECT_EQ(arena.stats().total_allocated, 0);
}

TEST(Arena, ReservedBlocksStandOutside) {
  Arena arena;
  void* block = arena.reserve(100);
  EXPECT_EQ(arena.stats().reserves, 1);
  EXPECT_EQ(arena.stats().arena_extensions, 0);
  arena.free(block);
  EXPECT_EQ(arena.stats().total_allocated, 0);
}

TEST(Arena, ReservedBlocksCountForTheLimit) {
  Arena arena({.limit = 4096});
  void* block = arena.reserve(4000);
  EXPECT_TRUE(test::throws("64 bytes left of its limit of 4096", [&] { arena.reserve(100); }));
  EXPECT_TRUE(test::throws("64 bytes left of its limit of 4096", [&] { arena.allocate(100); }));
  arena.free(block);
  arena.free(arena.reserve(4000));
}

/** Allocates and frees at random; each block holds a pattern that must not change. */
void random_traffic(Arena& arena, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::pair<unsigned char*, size_t>> blocks;
  for (int step = 0; step < 3000; ++step) {
    if (blocks.size() < 40 && random() % 2) {
      size_t bytes = 1 + random() % (random() % 8 ? 2000 : 200000);
      auto* block = static_cast<unsigned char*>(arena.allocate(bytes));
      std::memset(block, static_cast<int>(bytes % 251), bytes);
      blocks.emplace_back(block, bytes);
    } else if (!blocks.empty()) {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      auto [block, bytes] = blocks.back();
      blocks.pop_back();
      ASSERT_EQ(block[0], bytes % 251);
      ASSERT_EQ(block[bytes - 1], bytes % 251);
      arena.free(block);
    }
  }
  for (auto [block, bytes] : blocks) arena.free(block);
}

TEST(Arena, RandomTrafficFromThreads) {
  Arena arena({.initial_region = 65536});
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 4; ++seed) threads.emplace_back(random_traffic, std::ref(arena), seed);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(arena.stats().in_use, 0);
  EXPECT_GT(arena.stats().max_in_use, 0);
  arena.shrink();
  EXPECT_EQ(arena.stats().total_allocated, 0);
}

TEST(MemoryInfos, EqualOnesAreOne) {
  MemoryInfo info{.name = "Other", .allocator_type = 0};
  EXPECT_EQ(&interned(info), &interned(MemoryInfo{.name = "Other", .allocator_type = 0}));
  EXPECT_NE(&interned(info), &cpu_allocator()->info());
}

}  // namespace
}  // namespace ortolan::tensor
