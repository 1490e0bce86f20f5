// Tests of the space that kernels use for a while.
#include "cpu/kernels/scratch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include "../thrown_text.h"
#include "base/error.h"
#include "base/threads/run_scope.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr int64_t kMegabyte = 1 << 20;

#ifdef __SANITIZE_ADDRESS__
constexpr bool kKeeps = false;  // each is a block of its own
#else
constexpr bool kKeeps = true;
#endif

// What a thread that ends keeps it gives back, so each test that counts has a thread of its own.
template <class Body>
void on_a_new_thread(Body body) {
  std::thread(body).join();
}

TEST(Scratch, ThoseThatLiveAreApart) {
  std::vector<Scratch<char>> live;
  for (int64_t bytes : {100, 100000, 100, 0, 3000000, 100000}) {
    live.emplace_back(bytes);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(live.back().data()) % 64, 0u);
    std::memset(live.back().data(), static_cast<int>(live.size()), static_cast<size_t>(bytes));
  }
  live.erase(live.begin() + 1);  // they end in any order
  live.emplace_back(90000);
  std::memset(live.back().data(), 9, 90000);
  EXPECT_EQ(live[0].data()[99], 1);
  EXPECT_EQ(live[1].data()[99], 3);
  EXPECT_EQ(live[3].data()[2999999], 5);
  EXPECT_EQ(live[4].data()[99999], 6);
}

TEST(Scratch, WhatEndedServesTheNextOfItsSize) {
  if (!kKeeps) GTEST_SKIP() << "under AddressSanitizer each is a block of its own";
  on_a_new_thread([] {
    const auto place = [](int64_t bytes) { return Scratch<char>(bytes).data(); };
    const char* large = place(8 * kMegabyte);
    const char* small = place(1000);
    EXPECT_NE(small, large) << "a small one would keep the large one from its next user";
    EXPECT_EQ(place(8 * kMegabyte - 64), large);
    EXPECT_EQ(place(50), small);
    const size_t before = scratch_held();
    const char* larger = place(9 * kMegabyte);
    EXPECT_EQ(scratch_held() - before, static_cast<size_t>(kMegabyte)) << "it takes the place of the large one";
    EXPECT_EQ(place(8 * kMegabyte), larger);
  });
}

TEST(Scratch, AThreadKeepsNoMoreThanItsPart) {
  const size_t before = scratch_held();
  on_a_new_thread([&] {
    { const Scratch<char> huge(65 * kMegabyte); }
    EXPECT_EQ(scratch_held(), before);
    {
      std::vector<Scratch<char>> many;
      for (int i = 0; i < 5; ++i) many.emplace_back(20 * kMegabyte);
      EXPECT_EQ(scratch_held() - before, static_cast<size_t>(100 * kMegabyte));
    }
    EXPECT_LE(scratch_held() - before, static_cast<size_t>(64 * kMegabyte));
    EXPECT_EQ(scratch_held() > before, kKeeps);
    {
      std::vector<Scratch<char>> many;
      for (int i = 0; i < 40; ++i) many.emplace_back(10000);
    }
    EXPECT_LE(scratch_held() - before, static_cast<size_t>(64 * kMegabyte));
  });
  EXPECT_EQ(scratch_held(), before) << "what a thread keeps ends with it";
}

TEST(Scratch, AProcessKeepsNoMoreThanItsBound) {
  EXPECT_EQ(scratch_bound(1), size_t{256} << 20);
  EXPECT_EQ(scratch_bound(16), size_t{256} << 20);
  EXPECT_EQ(scratch_bound(128), size_t{2048} << 20);
  const size_t before = scratch_held(), bound = scratch_bound(std::thread::hardware_concurrency());
  std::vector<Scratch<char>> others;  // never touched, so that they take no memory
  while (scratch_held() <= bound) others.emplace_back(60 * kMegabyte);
  on_a_new_thread([&] {
    const size_t with_others = scratch_held();
    { const Scratch<char> space(2 * kMegabyte); }
    EXPECT_EQ(scratch_held(), with_others);
    { const Scratch<char> small(100000); }
    EXPECT_EQ(scratch_held() > with_others, kKeeps) << "small ones are kept even so";
  });
  others.clear();
  EXPECT_LE(scratch_held() - std::min(before, scratch_held()), static_cast<size_t>(64 * kMegabyte));
}

TEST(Scratch, MayEndOnAnotherThread) {
  const size_t before = scratch_held();
  on_a_new_thread([&] {
    std::optional<Scratch<char>> space(kMegabyte);
    on_a_new_thread([&] { space.reset(); });
  });
  EXPECT_EQ(scratch_held(), before);
}

/** What a kernel does that goes on to use memory whose lease has ended. */
[[gnu::noinline]] char use_after_end() {
  volatile char* ended = nullptr;
  {
    const Scratch<char> space(1000);
    ended = space.data();
    ended[0] = 1;
  }
  return ended[0];
}

TEST(Scratch, ThatIsUsedAfterItsEndIsFoundByAddressSanitizer) {
#ifdef __SANITIZE_ADDRESS__
  EXPECT_DEATH(use_after_end(), "heap-use-after-free");
#else
  GTEST_SKIP() << "ends are checked in builds with AddressSanitizer; here " << int{use_after_end()};
#endif
}

TEST(Scratch, ChargesTheRunThatUsesIt) {
  auto first = base::MemoryBudget::make(2 * kMegabyte, "raise it");
  auto second = base::MemoryBudget::make(kMegabyte / 2, "raise it");
  on_a_new_thread([&] {
    {
      const base::ScopedRunScope run(base::RunScope{.memory = first.get()});
      for (int i = 0; i < 2; ++i) {
        const Scratch<char> space(kMegabyte);
        EXPECT_EQ(first->in_use(), static_cast<size_t>(kMegabyte));
        EXPECT_TRUE(test::throws("more than the 2097152 that it may", [] { Scratch<char>(2 * kMegabyte); }));
      }
    }
    const base::ScopedRunScope run(base::RunScope{.memory = second.get()});
    EXPECT_TRUE(test::throws("more than the 524288 that it may", [] { Scratch<char>(int64_t{kMegabyte}); }));
    EXPECT_EQ(second->in_use(), 0u);
    EXPECT_EQ(first->in_use(), 0u) << "the block was to be another run's";
  });
}

}  // namespace
}  // namespace ortolan::cpu::kernels
