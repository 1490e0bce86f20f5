// Tests of AlignedBuffer and thread scratch.
#include "cpu/kernels/aligned_buffer.h"

#include <gtest/gtest.h>

#include <cstring>

namespace ortolan::cpu::kernels {
namespace {

TEST(AlignedBuffer, IsAlignedAndMoves) {
  for (size_t bytes : {size_t{0}, size_t{1}, size_t{100}, size_t{9} << 20}) {
    AlignedBuffer buffer(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.as<char>()) % 64, 0u);
    if (bytes != 0) std::memset(buffer.as<char>(), 1, bytes);
    AlignedBuffer moved(std::move(buffer));
    EXPECT_EQ(moved.bytes(), bytes);
    EXPECT_EQ(buffer.bytes(), 0u);
  }
  EXPECT_THROW(AlignedBuffer(SIZE_MAX - 5), std::bad_alloc);
}

TEST(ThreadScratch, GrowsAndKeepsSlotsApart) {
  char* first = thread_scratch<char>(Scratch::kRows, int64_t{100});
  char* second = thread_scratch<char>(Scratch::kTile, int64_t{100000});
  std::memset(first, 1, 100);
  std::memset(second, 2, 100000);
  EXPECT_EQ(first[99], 1);
  EXPECT_EQ(thread_scratch<char>(Scratch::kTile, int64_t{50}), second);
}

}  // namespace
}  // namespace ortolan::cpu::kernels
