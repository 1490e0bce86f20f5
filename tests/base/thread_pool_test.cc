// Tests of ThreadPool: coverage of ranges, several callers, nesting, exceptions, tasks, hooks, processors and affinity.
#include "base/threads/thread_pool.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <stdexcept>
#include <thread>

#include "../thrown_text.h"
#include "base/error.h"
#include "pool_options.h"

namespace ortolan::base {
namespace {

void expect_each_once(ThreadPool& pool, int64_t count, int64_t grain) {
  std::vector<std::atomic<int>> seen(count);
  std::atomic<bool> short_range{false};
  pool.parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    if (end - begin < grain && end != count) short_range = true;
    for (int64_t i = begin; i < end; ++i) seen[i].fetch_add(1);
  });
  EXPECT_FALSE(short_range) << "count " << count << " grain " << grain;
  for (int64_t i = 0; i < count; ++i) ASSERT_EQ(seen[i].load(), 1) << i << " of " << count << " grain " << grain;
}

TEST(ThreadPool, CoversEachIndexOnce) {
  for (int degree : {1, 2, 3, 8}) {
    ThreadPool pool(threads(degree));
    EXPECT_EQ(pool.degree(), degree);
    for (int64_t count : {0, 1, 2, 7, 64, 1000, 12345}) {
      for (int64_t grain : {0, 1, 3, 64, 100000}) expect_each_once(pool, count, grain);
    }
  }
}

TEST(ThreadPool, LoopsOfLessThanTwoGrainsStayWithTheirCaller) {
  ThreadPool pool(threads(4));
  for (auto [count, grain] : {std::pair<int64_t, int64_t>{1, 1}, {5, 3}, {199, 100}, {9, INT64_MAX}}) {
    std::vector<int64_t> ranges;
    pool.parallel_for(count, grain, [&](int64_t begin, int64_t end) { ranges.push_back(end - begin); });
    EXPECT_EQ(ranges, std::vector<int64_t>{count}) << count << " by " << grain;
  }
}

TEST(ThreadPool, WorkersTakePart) {
  ThreadPool pool(threads(2));
  std::atomic<int> arrived{0};
  pool.parallel_for(2, 1, [&](int64_t, int64_t) {
    ++arrived;
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (arrived < 2 && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 2);
}

/** The first items of a loop that the threads of a pool take, the caller's first, where all wait for each other. */
std::vector<int64_t> first_items(ThreadPool& pool, int64_t count) {
  const size_t threads = pool.degree();
  std::vector<int64_t> first(threads, -1);
  std::atomic<size_t> workers{0}, arrived{0};
  const std::thread::id caller = std::this_thread::get_id();
  pool.parallel_for(count, 1, [&](int64_t begin, int64_t) {
    if (arrived == threads) return;
    const size_t thread = std::this_thread::get_id() == caller ? 0 : 1 + workers++;
    if (thread < threads) first[thread] = begin;
    ++arrived;
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (arrived < threads && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  });
  std::sort(first.begin() + 1, first.end());
  return first;
}

TEST(ThreadPool, AThreadBeginsWithItsOwnShareOfALoop) {
  ThreadPool two(threads(2)), three(threads(3));
  for (int round = 0; round < 5; ++round) {
    EXPECT_EQ(first_items(two, 1600), (std::vector<int64_t>{0, 800}));
    EXPECT_EQ(first_items(three, 2400), (std::vector<int64_t>{0, 800, 1600}));
  }
}

cpu_set_t allowed_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  return set;
}

void allow_processors(const cpu_set_t& set) { sched_setaffinity(0, sizeof set, &set); }

/** The processor on which the worker of a pool of two did its part of a loop; -1 where it did none. The worker is put
    on processor `from` before. */
int processor_of_worker(ThreadPool& pool, int from, const cpu_set_t& all) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(from, &only);
  std::atomic<bool> there{false};
  pool.schedule([&] {
    allow_processors(only);
    allow_processors(all);
    there = true;
  });
  while (!there) std::this_thread::yield();
  const auto caller = std::this_thread::get_id();
  std::atomic<int> processor{-1};
  pool.parallel_for(2, 1, [&](int64_t, int64_t) {
    if (std::this_thread::get_id() != caller) {
      const cpu_set_t now = allowed_processors();
      EXPECT_TRUE(CPU_EQUAL(&now, &all));
      processor = sched_getcpu();
    }
    for (int i = 0; i < 50 && processor < 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  return processor;
}

TEST(ThreadPool, AWorkerLeavesItsCallersProcessor) {
  const cpu_set_t all = allowed_processors();
  const int mine = sched_getcpu();
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "there is one processor";
  ThreadPool pool(threads(2));
  pool.schedule([] {});  // starts the worker, which may run anywhere
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(mine, &only);
  allow_processors(only);
  int processor = -1;
  for (int attempt = 0; attempt < 50 && (processor < 0 || processor == mine); ++attempt) {
    processor = processor_of_worker(pool, mine, all);
  }
  allow_processors(all);
  EXPECT_GE(processor, 0);
  EXPECT_NE(processor, mine);
}

void spin_for(std::chrono::milliseconds time) {
  for (const auto until = std::chrono::steady_clock::now() + time; std::chrono::steady_clock::now() < until;) continue;
}

/** How often the worker of a pool of two went to sleep while a loop had pieces for it. */
long sleeps_of_worker_in_a_loop(ThreadPool& pool) {
  const auto caller = std::this_thread::get_id();
  long first = -1, last = -1;  // the worker's count at its first and its last piece
  pool.parallel_for(16, 1, [&](int64_t, int64_t) {
    spin_for(std::chrono::milliseconds(2));
    if (std::this_thread::get_id() == caller) return;
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    last = usage.ru_nvcsw;
    if (first < 0) first = last;
  });
  return last - first;
}

TEST(ThreadPool, AWorkerGivesWayWhereItsProcessorIsWanted) {
  auto options = threads(2);
  const cpu_set_t all = allowed_processors();
  int shared = 0;
  while (!CPU_ISSET(shared, &all)) ++shared;
  options.affinity = std::to_string(shared + 1);
  ThreadPool pool(options);
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(shared, &only);
    allow_processors(only);
    while (!stop) continue;
  });
  long sleeps = 0;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (sleeps == 0 && std::chrono::steady_clock::now() < until) sleeps = sleeps_of_worker_in_a_loop(pool);
  stop = true;
  busy.join();
  EXPECT_GT(sleeps, 0);
}

TEST(ThreadPool, DegreeOneStaysInTheCaller) {
  ThreadPool pool(threads(1));
  const auto caller = std::this_thread::get_id();
  int calls = 0;
  pool.parallel_for(1000, 1, [&](int64_t begin, int64_t end) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(begin, 0);
    EXPECT_EQ(end, 1000);
    ++calls;
  });
  EXPECT_EQ(calls, 1);
}

TEST(ThreadPool, NestedLoopRunsInline) {
  ThreadPool pool(threads(4));
  std::atomic<int64_t> total{0};
  pool.parallel_for(50, 1, [&](int64_t begin, int64_t end) {
    EXPECT_TRUE(ThreadPool::inside_loop());
    const auto outer = std::this_thread::get_id();
    for (int64_t i = begin; i < end; ++i) {
      pool.parallel_for(50, 1, [&](int64_t b, int64_t e) {
        EXPECT_EQ(std::this_thread::get_id(), outer);
        total += e - b;
      });
    }
  });
  EXPECT_FALSE(ThreadPool::inside_loop());
  EXPECT_EQ(total, 2500);
}

TEST(ThreadPool, RethrowsTheFirstExceptionAndStaysUsable) {
  ThreadPool pool(threads(4));
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> running{0};
    EXPECT_TRUE(test::throws<std::runtime_error>("stop", [&] {
      pool.parallel_for(1000, 1, [&](int64_t, int64_t end) {  // of all, where workers were lately kept from running
        ++running;
        if (end > 100) throw std::runtime_error("stop");
      });
    }));
    EXPECT_GT(running, 0);
    expect_each_once(pool, 100, 1);
  }
}

TEST(ThreadPool, TasksRunAndMayLoopAndSchedule) {
  for (int degree : {1, 2, 4}) {
    std::atomic<int> done{0};
    {
      ThreadPool pool(threads(degree));
      for (int i = 0; i < 100; ++i) {
        pool.schedule([&, owned = std::make_unique<int>(i)] {
          pool.parallel_for(10, 1, [&](int64_t begin, int64_t end) { done += static_cast<int>(end - begin); });
          pool.schedule([&] { ++done; });
        });
      }
    }
    EXPECT_EQ(done, 100 * 11) << degree;
  }
}

TEST(ThreadPool, IdleWorkersUseNoProcessorTime) {
  ThreadPool pool(threads(4));
  pool.parallel_for(1000, 1, [](int64_t, int64_t) {});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const std::clock_t before = std::clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LT(std::clock() - before, CLOCKS_PER_SEC / 100);
}

TEST(ThreadPool, WorkersSpinWhileThePoolIsInUse) {
  auto options = threads(2);
  options.spin_us = 10'000'000;
  options.spin_only_in_use = true;
  ThreadPool pool(options);
  auto spent = [&] {
    const std::clock_t before = std::clock();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    return std::clock() - before;
  };
  {
    const ThreadPool::Use use(pool);
    pool.parallel_for(1000, 1, [](int64_t, int64_t) {});
    EXPECT_GT(spent(), CLOCKS_PER_SEC / 50);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_LT(spent(), CLOCKS_PER_SEC / 100);
}

struct HookedThread {
  std::thread thread;
};

TEST(ThreadPool, ForkedProcessesDoTheirWorkAlone) {
  auto pool = std::make_unique<ThreadPool>(threads(3));
  expect_each_once(*pool, 10000, 1);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    std::atomic<int64_t> sum{0};
    pool->parallel_for(1000, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
    pool->schedule([&] { sum += 1; });
    while (sum == 1000) usleep(1000);
    pool.reset();
    _exit(sum == 1001 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  expect_each_once(*pool, 10000, 1);
}

TEST(ThreadPool, HooksMakeAndJoinThreads) {
  static std::atomic<int> made{0}, joined{0};
  made = joined = 0;
  auto options = threads(3);
  options.hooks.create = [](void* counter, void (*worker)(void*), void* param) -> void* {
    ++*static_cast<std::atomic<int>*>(counter);
    return new HookedThread{std::thread(worker, param)};
  };
  options.hooks.join = [](void* handle) {
    auto* hooked = static_cast<HookedThread*>(handle);
    hooked->thread.join();
    delete hooked;
    ++joined;
  };
  options.hooks.options = &made;
  {
    ThreadPool pool(options);
    EXPECT_EQ(made, 0);
    expect_each_once(pool, 100, 1);
  }
  EXPECT_EQ(made, 2);
  EXPECT_EQ(joined, 2);
}

TEST(ThreadPool, ReadsAffinityText) {
  EXPECT_TRUE(parse_affinity("").empty());
  EXPECT_EQ(parse_affinity("1,2;3-5"), (std::vector<std::vector<int>>{{0, 1}, {2, 3, 4}}));
  const std::pair<const char*, const char*> wrong[] = {{"0", "at position 0"},
                                                       {"a", "at position 0"},
                                                       {"1;;2", "at position 2"},
                                                       {"3-1", "runs backwards"},
                                                       {"1,", "at position 2"},
                                                       {"1-", "at position 2"},
                                                       {"1;", "at position 2"},
                                                       {"999999", "processor number in [1, "},
                                                       {"1 2", "unexpected character at position 1"}};
  for (const auto& [text, part] : wrong) EXPECT_TRUE(test::throws(part, [&] { parse_affinity(text); })) << text;
  auto options = threads(3);
  options.affinity = "1";
  EXPECT_TRUE(test::throws("names 1 groups for a pool of 3 threads", [&] { ThreadPool pool(options); }));
  options.affinity = "1;1";
  ThreadPool pinned(options);
  expect_each_once(pinned, 100, 1);
}

}  // namespace
}  // namespace ortolan::base
