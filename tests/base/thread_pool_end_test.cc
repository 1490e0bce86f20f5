// ThreadPool where memory or threads run out, and where one of its own tasks ends it.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <new>
#include <thread>

#include "../thrown_text.h"
#include "base/error.h"
#include "base/threads/thread_pool.h"
#include "injected_faults.h"
#include "pool_options.h"

namespace ortolan::base {
namespace {

ThreadPool::Options without_threads() {
  ThreadPool::Options options = threads(3);
  options.hooks.create = [](void*, void (*)(void*), void*) -> void* { return nullptr; };
  options.hooks.join = [](void*) {};
  return options;
}

struct Counts {
  std::atomic<int> made{0}, joined{0};
};
struct HookedThread {
  std::thread thread;
  Counts* counts = nullptr;
};

/** Threads that the host makes and joins. */
ThreadPool::Options counted(int count, Counts& counts) {
  ThreadPool::Options options = threads(count);
  options.hooks.options = &counts;
  options.hooks.create = [](void* all, void (*worker)(void*), void* param) -> void* {
    auto* counts = static_cast<Counts*>(all);
    try {
      auto hooked = std::make_unique<HookedThread>();
      hooked->counts = counts;
      hooked->thread = std::thread(worker, param);
      ++counts->made;
      return hooked.release();
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  };
  options.hooks.join = [](void* handle) {
    auto* hooked = static_cast<HookedThread*>(handle);
    hooked->thread.join();
    Counts* counts = hooked->counts;
    delete hooked;
    ++counts->joined;
  };
  return options;
}

/** The sum of what a loop over [0, 1000) was given; -1 where there was no memory for it. */
int64_t sum_of_loop(ThreadPool& pool) {
  std::atomic<int64_t> sum{0};
  try {
    pool.parallel_for(1000, 1, [&](int64_t begin, int64_t end) { sum += (begin + end - 1) * (end - begin) / 2; });
  } catch (const std::bad_alloc&) {
    return -1;
  }
  return sum;
}

TEST(ThreadPoolEnd, KeepsTheWorkersThatMemoryWasThereFor) {
  int failures = 0, made = 0;
  for (int allocations = 0; allocations < 24; ++allocations) {
    Counts counts;
    {
      ThreadPool pool(counted(8, counts));
      const int64_t sum = [&] {
        const FailingAllocation failing(allocations);
        return sum_of_loop(pool);
      }();
      failures += sum < 0;
      EXPECT_TRUE(sum < 0 || sum == 499500) << sum;
      EXPECT_EQ(sum_of_loop(pool), 499500);
    }
    made += counts.made;
    EXPECT_EQ(counts.joined, counts.made) << allocations;
  }
  EXPECT_GT(failures, 0);
  EXPECT_GT(made, 0);
}

TEST(ThreadPoolEnd, ATaskThatFindsNoMemoryIsNeverRun) {
  std::atomic<int> scheduled{0}, done{0};
  {
    ThreadPool pool(threads(2));
    pool.schedule([&] { ++done; });
    for (int i = 0; i < 200; ++i) {
      const FailingAllocation failing(i % 3);
      try {
        pool.schedule([&] { ++done; });
        ++scheduled;
      } catch (const std::bad_alloc&) {
      }
    }
  }
  EXPECT_EQ(done, scheduled + 1);
  EXPECT_LT(scheduled, 200);
}

TEST(ThreadPoolEnd, MayComeFromATask) {
  for (int degree : {1, 2, 4}) {
    std::atomic<int> done{0};
    std::atomic<bool> ended{false};
    auto* pool = new ThreadPool(threads(degree));
    for (int i = 0; i < 10; ++i) pool->schedule([&] { ++done; });
    while (done < 10) std::this_thread::yield();
    pool->schedule([&, pool] {
      delete pool;
      ended = true;
    });
    while (!ended) std::this_thread::yield();
  }
}

TEST(ThreadPoolEnd, JoinsEachThreadThatTheHostMadeAlsoFromATask) {
  Counts counts;
  auto* pool = new ThreadPool(counted(4, counts));
  pool->schedule([pool] { delete pool; });
  while (counts.made == 0 || counts.joined < 3) std::this_thread::yield();
  EXPECT_EQ(counts.made, 3);
}

TEST(ThreadPoolEnd, NeedsAFunctionThatJoins) {
  auto options = without_threads();
  options.hooks.join = nullptr;
  EXPECT_TRUE(test::throws("gives no function that joins them", [&] { ThreadPool pool(options); }));
}

TEST(ThreadPoolEnd, TasksWithoutThreadsComeOneAfterTheOther) {
  ThreadPool pool(without_threads());
  int done = 0, depth = 0, deepest = 0;
  std::function<void()> chain = [&] {
    deepest = std::max(deepest, ++depth);
    if (++done < 100000) pool.schedule([&] { chain(); });
    --depth;
  };
  pool.schedule([&] { chain(); });
  EXPECT_EQ(done, 100000);
  EXPECT_EQ(deepest, 1);
}

}  // namespace
}  // namespace ortolan::base
