// Tests of loops of several callers at once in one ThreadPool.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "base/threads/loop_division.h"
#include "base/threads/loops_alone.h"
#include "base/threads/pooled_loop.h"
#include "base/threads/processor_count.h"
#include "pool_options.h"

namespace ortolan::base {
namespace {

TEST(ThreadPool, LoopsOfSeveralCallersShareTheWorkers) {
  const PretendedProcessors processors(4);
  ThreadPool pool(threads(3));
  std::atomic<int> together{0};
  auto loop = [&] {
    std::atomic<int> arrived{0};
    pool.parallel_for(2, 1, [&](int64_t, int64_t) {
      ++arrived;
      const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (arrived < 2 && std::chrono::steady_clock::now() < until) std::this_thread::yield();
      together += arrived == 2 ? 1 : 0;
      while (together < 4 && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    });
  };
  std::thread other(loop);
  loop();
  other.join();
  EXPECT_EQ(together, 4) << "a caller was alone in its loop";
}

TEST(ThreadPool, IsNoWiderThanTheProcess) {
  const PretendedProcessors processors(3);
  EXPECT_EQ(ThreadPool(threads(2)).degree(), 2);
  EXPECT_EQ(ThreadPool(threads(16)).degree(), 3);
}

TEST(ThreadPool, CallersThatHaveAllProcessorsAreAlone) {
  const PretendedProcessors processors(2);
  ThreadPool pool(threads(4));
  std::atomic<bool> is_inside{false}, may_end{false};
  std::thread other([&] {
    pool.parallel_for(2, 1, [&](int64_t, int64_t) {
      is_inside = true;
      while (!may_end) std::this_thread::yield();
    });
  });
  while (!is_inside) std::this_thread::yield();
  int calls = 0;
  pool.parallel_for(64, 1, [&](int64_t begin, int64_t end) {
    calls += begin == 0 && end == 64 ? 1 : 100;
    EXPECT_FALSE(may_end);
  });
  may_end = true;
  other.join();
  EXPECT_EQ(calls, 1);
}

TEST(ThreadPool, LoopsStayInAThreadThatKeepsThem) {
  const PretendedProcessors processors(4);
  ThreadPool pool(threads(4));
  const auto ranges = [&] {
    std::atomic<int> count{0};
    pool.parallel_for(1000, 1, [&](int64_t begin, int64_t end) { count += end > begin; });
    return count.load();
  };
  EXPECT_GT(ranges(), 1);
  {
    const LoopsAlone unwanted(false);
    EXPECT_GT(ranges(), 1);
    const LoopsAlone alone;
    EXPECT_TRUE(ThreadPool::inside_loop());
    {
      const LoopsAlone changes_nothing(false);
      EXPECT_EQ(ranges(), 1);
    }
    EXPECT_EQ(ranges(), 1);
  }
  EXPECT_FALSE(ThreadPool::inside_loop());
  EXPECT_GT(ranges(), 1);
}

TEST(ThreadPool, MoreCallersThanPlacesDoTheirWorkAll) {
  ThreadPool pool(threads(2));
  std::atomic<int64_t> total{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 40; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        pool.parallel_for(100, 1, [&](int64_t begin, int64_t end) { total += end - begin; });
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(total, 40 * 50 * 100);
}

TEST(LoopDivision, HoldsForAnyPoolAndMachine) {
  for (int degree = 1; degree <= 128; ++degree) {
    for (int processors : {1, 2, 3, 16, 64, 128}) {
      const int at_once = std::min(degree, processors);
      for (int64_t count : {1, 2, 7, 100, 4096, 1000003}) {
        for (int64_t grain : {1, 3, 64, 5000}) {
          const LoopDivision division = division_of(count, grain, degree, processors);
          SCOPED_TRACE(testing::Message()
                       << degree << " threads, " << processors << " processors, " << count << " by " << grain);
          EXPECT_GE(division.chunk, std::min(grain, count));
          EXPECT_GE(division.helpers, 0);
          EXPECT_LT(division.helpers, at_once);
          const int64_t chunks = (count + division.chunk - 1) / division.chunk;
          EXPECT_LT(division.helpers, chunks) << "one of them would find nothing";
          if (chunks >= at_once) {
            EXPECT_EQ(division.helpers, at_once - 1);
          }
          const int64_t worth = std::max<int64_t>(1, count / grain), last = count - (chunks - 1) * division.chunk;
          EXPECT_GE(9 * chunks, 8 * std::min<int64_t>(worth, 8 * at_once));
          if (count > grain) {
            EXPECT_GE(2 * last, chunks <= 8 ? grain : 0) << "a chunk that is not worth a thread";
          }
        }
      }
    }
  }
}

TEST(PooledLoop, LetsInAsManyWorkersAsItAskedFor) {
  PooledLoop loop;
  std::atomic<int64_t> done{0};
  auto count = [](void* context, int64_t begin, int64_t end) {
    *static_cast<std::atomic<int64_t>*>(context) += end - begin;
  };
  ASSERT_TRUE(loop.take());
  EXPECT_FALSE(loop.take());
  EXPECT_FALSE(loop.join()) << "before it is open";
  loop.open(10, 1, 2, {count, &done}, 1);
  EXPECT_TRUE(loop.wants_help());
  ASSERT_TRUE(loop.join());
  EXPECT_FALSE(loop.wants_help());
  EXPECT_FALSE(loop.join());
  loop.leave();
  ASSERT_TRUE(loop.join()) << "who has left gave its place back";
  TurnTaking<> turn;
  for (int turns = 0; done < 10 && turns < 1000; ++turns) {  // one is enough unless the system takes its turn
    turn.begin();
    loop.work(turn);
  }
  loop.leave();
  EXPECT_FALSE(loop.wants_help()) << "nothing is left";
  EXPECT_EQ(loop.close(), nullptr);
  loop.give_back();
  EXPECT_EQ(done, 10);
}

TEST(ThreadPool, ManyShortLoopsFromSeveralCallers) {
  for (bool spinning : {true, false}) {
    auto options = threads(3);
    options.allow_spinning = spinning;
    ThreadPool pool(options);
    std::vector<std::thread> callers;
    std::atomic<int64_t> total{0};
    for (int caller = 0; caller < 4; ++caller) {
      callers.emplace_back([&] {
        for (int round = 0; round < 2000; ++round) {
          std::atomic<int64_t> sum{0};
          pool.parallel_for(37, 1, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) sum += i;
          });
          total += sum;
        }
      });
    }
    for (auto& caller : callers) caller.join();
    EXPECT_EQ(total, 4 * 2000 * (36 * 37 / 2));
  }
}

}  // namespace
}  // namespace ortolan::base
