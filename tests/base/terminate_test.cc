// Tests of how runs are asked to stop: pieces of loops, on a system whose clock is set by hand, and who looks when.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "../thrown_text.h"
#include "base/error.h"
#include "base/threads/piece_length.h"
#include "base/threads/run_scope.h"
#include "base/threads/stepped_work.h"
#include "base/threads/thread_pool.h"
#include "pool_options.h"

namespace ortolan::base {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

struct FakeClock {
  static inline std::chrono::steady_clock::time_point time{};
  static inline int64_t looks = 0;
  static std::chrono::steady_clock::time_point now() {
    ++looks;
    return time;
  }
};

using Pieces = PieceLength<FakeClock>;

/** The lengths of the pieces of a loop whose items take `item` each. */
std::vector<int64_t> pieces(int64_t count, int64_t grain, std::chrono::nanoseconds item) {
  Pieces length(grain, count);
  std::vector<int64_t> made;
  for (int64_t done = 0; done < count; done += made.back()) {
    made.push_back(std::min(length.next(), count - done));
    FakeClock::time += item * made.back();
  }
  return made;
}

TEST(PieceLength, TakesAboutTwoMillisecondsAPiece) {
  const std::vector<int64_t> made = pieces(1'000'000, 1, microseconds(10));
  EXPECT_EQ(made[0], 1);
  EXPECT_EQ(made[1], Pieces::kGrowth);
  for (size_t i = 2; i + 1 < made.size(); ++i) EXPECT_EQ(made[i], 200) << i;
}

TEST(PieceLength, NeverGrowsBeyondAFewMillisecondsByGuessing) {
  for (int64_t nanoseconds = 1; nanoseconds < 1'000'000'000; nanoseconds *= 3) {
    const std::chrono::nanoseconds item(nanoseconds);
    for (int64_t made : pieces(10'000, 1, item))
      EXPECT_LE(item * made, std::max<std::chrono::nanoseconds>(milliseconds(2), item));
  }
}

TEST(PieceLength, IsOfWholeGrains) {
  const std::vector<int64_t> made = pieces(1'000'000, 16, microseconds(1));
  for (size_t i = 0; i + 1 < made.size(); ++i) EXPECT_EQ(made[i] % 64, 0) << i;
}

TEST(PieceLength, LooksAtNoClockInShortLoops) {
  FakeClock::looks = 0;
  EXPECT_EQ(pieces(400, 100, microseconds(1)), std::vector<int64_t>{400});
  EXPECT_EQ(FakeClock::looks, 0);
}

TEST(PieceLength, HoldsForAnyNumbers) {
  EXPECT_EQ(pieces(1, INT64_MAX, milliseconds(1)), std::vector<int64_t>{1});
  Pieces longest(INT64_MAX / 2, INT64_MAX);
  EXPECT_EQ(longest.next(), INT64_MAX);
  Pieces quick(1, INT64_MAX);
  for (int i = 0; i < 20; ++i) EXPECT_GT(quick.next(), 0);  // a clock that stands still
}

constexpr auto kStopped = "the run was stopped because terminate is set in its run options";

/** Which pool a loop has, and where it is started. */
enum class Way { kShared, kDegreeOne, kNested };

template <class Loop>
void start_loop(Way way, ThreadPool& pool, ThreadPool& lone, Loop&& loop) {
  if (way == Way::kShared) return loop(pool);
  if (way == Way::kDegreeOne) return loop(lone);
  pool.parallel_for(2, 1, [&](int64_t begin, int64_t) {
    if (begin == 0) loop(pool);
  });
}

class TerminateLoop : public testing::TestWithParam<Way> {
 protected:
  TerminateLoop() : pool(threads(4)), lone(threads(1)) {}
  void run(int64_t count, const std::function<void(int64_t, int64_t)>& body) {
    start_loop(GetParam(), pool, lone, [&](ThreadPool& of) { of.parallel_for(count, 1, body); });
  }
  ThreadPool pool, lone;
  std::atomic<bool> terminate{false};
};

TEST_P(TerminateLoop, StopsBetweenTwoPieces) {
  RunScope scope;
  scope.terminate = &terminate;
  const ScopedRunScope of_run(scope);
  std::atomic<int64_t> done{0};
  const int64_t endless = int64_t{1} << 40;
  const std::string text = test::error_of([&] {
    run(endless, [&](int64_t begin, int64_t end) {
      done += end - begin;
      if (done > 1000) terminate = true;
      for (int64_t i = begin; i < end; ++i) std::this_thread::sleep_for(microseconds(1));
    });
  });
  EXPECT_EQ(text, kStopped);
  EXPECT_LT(done, endless);
  terminate = false;
  std::atomic<int64_t> covered{0};
  run(100, [&](int64_t begin, int64_t end) { covered += end - begin; });
  EXPECT_EQ(covered, 100) << "the pool goes on";
}

TEST_P(TerminateLoop, CoversAllItemsOnceWhereNobodyAsks) {
  RunScope scope;
  scope.terminate = &terminate;
  const ScopedRunScope of_run(scope);
  std::vector<std::atomic<int>> seen(5000);
  run(5000, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
  });
  for (const auto& times : seen) EXPECT_EQ(times, 1);
}

std::string name_of_way(const testing::TestParamInfo<Way>& info) {
  static constexpr const char* kNames[] = {"Shared", "DegreeOne", "Nested"};
  return kNames[static_cast<size_t>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Ways, TerminateLoop, testing::Values(Way::kShared, Way::kDegreeOne, Way::kNested),
                         name_of_way);

TEST(LoneLoop, IsOnePieceWhereNobodyCanAsk) {
  ThreadPool lone(threads(1));
  int pieces_seen = 0;
  lone.parallel_for(1'000'000, 1, [&](int64_t, int64_t) { ++pieces_seen; });
  EXPECT_EQ(pieces_seen, 1);
}

TEST(TerminatePoll, LooksOnceInSoManyUnits) {
  const uint64_t before = terminate_looks();
  TerminatePoll poll;
  for (int64_t i = 0; i < 10 * TerminatePoll::kUnits; ++i) poll.work();
  EXPECT_EQ(terminate_looks() - before, 10u);
  poll.work(INT64_MAX);
  EXPECT_EQ(terminate_looks() - before, 11u);
}

/** Steps of which each may be the one in which somebody asks for the end. */
class Steps final : public SteppedWork {
 public:
  Steps(int lanes, std::atomic<bool>& terminate, int64_t last)
      : SteppedWork(1000, lanes), terminate_(terminate), last_(last) {}
  std::atomic<int64_t> done{0};

 protected:
  void prepare(int64_t step, int lane) noexcept override {
    if (lane == 0 && step == last_) terminate_ = true;
  }
  void run_part(int64_t step, int, int lane) noexcept override {
    while (last_ >= 0 && step > last_ && lane != 0 && !stopped()) std::this_thread::yield();
    ++done;
  }

 private:
  std::atomic<bool>& terminate_;
  int64_t last_;
};

TEST(TerminateSteps, StopAfterTheStepInWhichItWasAsked) {
  for (int lanes : {1, 2, 4}) {
    std::atomic<bool> terminate{false};
    RunScope scope;
    scope.terminate = &terminate;
    ThreadPool pool(threads(4));
    const ScopedRunScope of_run(scope);
    const auto work = std::make_shared<Steps>(lanes, terminate, 10);
    EXPECT_EQ(test::error_of([&] { run_steps(pool, work); }), kStopped);
    EXPECT_TRUE(work->stopped());
    EXPECT_GE(work->done, 11 * lanes);
    EXPECT_LT(work->done, 1000 * lanes);
  }
}

TEST(TerminateSteps, AllRunWhereNobodyAsks) {
  std::atomic<bool> terminate{false};
  RunScope scope;
  scope.terminate = &terminate;
  ThreadPool pool(threads(2));
  const ScopedRunScope of_run(scope);
  const auto work = std::make_shared<Steps>(2, terminate, -1);
  run_steps(pool, work);
  EXPECT_FALSE(work->stopped());
  EXPECT_GE(work->done, 2000);
}

}  // namespace
}  // namespace ortolan::base
