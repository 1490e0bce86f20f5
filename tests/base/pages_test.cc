// The pages that lie wholly in a block, for each size that systems have.
#include "base/memory/pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "injected_faults.h"

namespace ortolan::base {
namespace {

constexpr size_t kPageSizes[] = {4096, 16384, 65536};

TEST(WholePages, OfABlockOnBoundariesAreAllOfIt) {
  for (size_t page : kPageSizes) {
    EXPECT_EQ(whole_pages(3 * page, 2 * page, page), (AddressRange{3 * page, 5 * page}));
  }
}

TEST(WholePages, LeaveOutThoseThatTheBlockSharesWithOthers) {
  for (size_t page : kPageSizes) {
    EXPECT_EQ(whole_pages(3 * page - 1, 2 * page + 2, page), (AddressRange{3 * page, 5 * page}));
    EXPECT_EQ(whole_pages(3 * page + 1, 2 * page, page), (AddressRange{4 * page, 5 * page}));
    EXPECT_EQ(whole_pages(3 * page, 2 * page - 1, page), (AddressRange{3 * page, 4 * page}));
  }
}

TEST(WholePages, OfABlockWithinOnePageAreNone) {
  for (size_t page : kPageSizes) {
    for (size_t bytes : {size_t{0}, size_t{1}, page - 2}) EXPECT_EQ(whole_pages(page + 1, bytes, page).bytes(), 0u);
    EXPECT_EQ(whole_pages(page + 1, 2 * page - 2, page).bytes(), 0u);
  }
}

TEST(WholePages, AreNeverMoreThanTheBlock) {
  for (size_t page : kPageSizes) {
    for (uintptr_t block = 1 << 20; block < (1 << 20) + 3 * page; block += 960) {
      for (size_t bytes = 0; bytes < 4 * page; bytes += 1984) {
        const AddressRange whole = whole_pages(block, bytes, page);
        ASSERT_GE(whole.begin, block);
        ASSERT_LE(whole.end, block + bytes);
        ASSERT_EQ(whole.bytes() % page, 0u);
        ASSERT_TRUE(whole.bytes() == 0 || whole.begin % page == 0);
      }
    }
  }
}

TEST(WholePages, AtTheEndOfAllAddressesDoNotWrap) { EXPECT_EQ(whole_pages(UINTPTR_MAX - 100, 50, 65536).bytes(), 0u); }

TEST(GiveBackPages, FollowsTheSystemsPageSize) {
  constexpr size_t kBytes = size_t{1} << 20, kPart = 65536 + 4096;
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::memset(memory, 1, kBytes);
  const uintptr_t boundary = (reinterpret_cast<uintptr_t>(memory) / 65536 + 1) * 65536;
  char* const part = reinterpret_cast<char*>(boundary);
  {
    const LargerPages larger(65536);
    give_back_pages(part, kPart);
  }
  auto is = [](char wanted) { return [wanted](char c) { return c == wanted; }; };
  EXPECT_TRUE(std::all_of(part, part + 65536, is(0)));
  EXPECT_TRUE(std::all_of(part + 65536, static_cast<char*>(memory) + kBytes, is(1)));
  munmap(memory, kBytes);
}

}  // namespace
}  // namespace ortolan::base
