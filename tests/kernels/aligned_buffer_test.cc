// Tests of AlignedBuffer.
#include "cpu/kernels/aligned_buffer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "../thrown_text.h"
#include "base/error.h"
#include "base/memory/memory_budget.h"
#include "base/memory/packed_parts.h"
#include "base/threads/run_scope.h"

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

TEST(AlignedBuffer, OfASessionIsLikeAnyOther) {
  std::vector<AlignedBuffer> buffers;
  const size_t sizes[] = {0, 1, 100, 4096, 5000, size_t{1} << 20, (size_t{4} << 20) - 3, size_t{9} << 20};
  for (int round = 0; round < 12; ++round) {
    for (size_t bytes : sizes) {
      buffers.emplace_back(bytes, Lifetime::kSession);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(buffers.back().as<char>()) % 64, 0u);
      if (bytes > 0) std::memset(buffers.back().as<char>(), static_cast<int>(buffers.size()), bytes);
    }
    if (round % 3 == 1) buffers.erase(buffers.begin() + 3, buffers.begin() + 5);
  }
  std::vector<AlignedBuffer> kept;
  for (AlignedBuffer& buffer : buffers) kept.emplace_back(std::move(buffer));
  for (size_t i = 0; i < kept.size(); ++i) {
    const char* bytes = kept[i].as<char>();
    const size_t size = kept[i].bytes();
    for (size_t at = 0; at < size; at += 61) {
      ASSERT_EQ(bytes[at], bytes[0]) << i;
    }
    if (size == 0) continue;
    ASSERT_EQ(bytes[size - 1], bytes[0]) << i;
  }
  EXPECT_THROW(AlignedBuffer(SIZE_MAX - 5, Lifetime::kSession), std::bad_alloc);
}

TEST(AlignedBuffer, OfASessionLiesBesideTheOneBefore) {
#ifndef __SANITIZE_ADDRESS__
  const AlignedBuffer first(1000, Lifetime::kSession), second(64, Lifetime::kSession);
  EXPECT_EQ(second.as<char>() - first.as<char>(), 1024);
#endif
}

TEST(AlignedBuffer, OfASessionThatARunMakesIsTheRuns) {
  auto budget = base::MemoryBudget::make(1 << 20, "raise it");
  const base::ScopedRunScope run(base::RunScope{.memory = budget.get()});
  base::PackedParts parts;
  const base::NotesParts noting(parts);
  {
    const AlignedBuffer buffer(5000, Lifetime::kSession);
    EXPECT_EQ(budget->in_use(), 5000u);
    EXPECT_TRUE(parts.blocks.empty());
    EXPECT_TRUE(test::throws("more than the 1048576 that it may", [] { AlignedBuffer(1 << 20, Lifetime::kSession); }));
  }
  EXPECT_EQ(budget->in_use(), 0u);
}

}  // namespace
}  // namespace ortolan::cpu::kernels
