// Tests of RunScope: where it begins and ends, and how it follows work from thread to thread.
#include "base/threads/run_scope.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <thread>

#include "base/threads/stepped_work.h"
#include "base/threads/thread_pool.h"

namespace ortolan::base {
namespace {

const std::atomic<bool> kNever{false};

/** Half the smallest normal number, by the arithmetic of the calling thread. */
float half_of_the_smallest() {
  volatile float smallest = std::numeric_limits<float>::min();
  return smallest * 0.5f;
}

/** What does not hold on the calling thread although `wanted` says so; empty when all does. */
std::string missing(const RunScope& wanted) {
  if (!(run_scope() == wanted)) return "another scope";
  if (fp32_precision() != wanted.precision) return "another precision";
  const bool flushes = wanted.denormals_are_zero && can_flush_denormals();
  if (denormals_are_zero() != flushes) return "the mode for denormals";
  return (half_of_the_smallest() == 0.0f) == flushes ? "" : "arithmetic on denormals";
}

std::vector<RunScope> scopes() {
  auto* const budget = reinterpret_cast<MemoryBudget*>(0x40);
  return {{Fp32Precision::kExact, true, &kNever, budget},
          {Fp32Precision::kX6, false, nullptr, nullptr},
          {Fp32Precision::kBf16, true, nullptr, budget},
          {Fp32Precision::kX3, false, &kNever, nullptr}};
}

ThreadPool::Options four_threads() {
  ThreadPool::Options options;
  options.threads = 4;
  return options;
}

TEST(RunScope, EndsWithWhatHeldBefore) {
  EXPECT_EQ(missing({}), "");
  for (const RunScope& outer : scopes()) {
    const ScopedRunScope of_outer(outer);
    for (const RunScope& inner : scopes()) {
      const ScopedRunScope of_inner(inner);
      EXPECT_EQ(missing(inner), "");
    }
    EXPECT_EQ(missing(outer), "");
  }
  EXPECT_EQ(missing({}), "");
}

TEST(RunScope, FollowsALoop) {
  ThreadPool pool(four_threads());
  for (const RunScope& scope : scopes()) {
    const ScopedRunScope of_run(scope);
    std::string of_thread[2];
    std::atomic<int> parts{0};
    pool.parallel_for(2, 1, [&](int64_t begin, int64_t) {
      of_thread[begin] = missing(scope);
      ++parts;
      while (parts < 2) std::this_thread::yield();  // until a worker takes the other
    });
    EXPECT_EQ(of_thread[0] + of_thread[1], "");
  }
}

TEST(RunScope, FollowsATaskAndItsLoops) {
  std::vector<std::string> of_tasks(scopes().size(), "did not run"), of_loops(of_tasks);
  {
    ThreadPool pool(four_threads());
    for (size_t i = 0; i < of_tasks.size(); ++i) {
      const ScopedRunScope of_run(scopes()[i]);
      pool.schedule([&, i, scope = scopes()[i]] {
        of_tasks[i] = missing(scope);
        pool.parallel_for(30, 30, [&](int64_t, int64_t) { of_loops[i] = missing(scope); });
      });
    }
  }
  for (size_t i = 0; i < of_tasks.size(); ++i) EXPECT_EQ(of_tasks[i] + of_loops[i], "") << i;
}

TEST(RunScope, EndsOnWorkersToo) {
  ThreadPool::Options one;
  one.threads = 1;
  std::string after = "did not run";
  {
    ThreadPool pool(one);
    {
      const ScopedRunScope of_run(scopes()[0]);
      pool.schedule([] {});
    }
    pool.schedule([&] { after = missing({}); });
  }
  EXPECT_EQ(after, "");
}

/** Two lanes that each wait for the other in every step. */
class Lanes final : public SteppedWork {
 public:
  explicit Lanes(const RunScope& scope) : SteppedWork(1, 2), scope_(scope) {}
  std::string of_lane[2];

 protected:
  void prepare(int64_t, int) noexcept override {}
  void run_part(int64_t, int, int lane) noexcept override {
    RunScope wanted = scope_;
    if (lane != 0) wanted.terminate = nullptr, wanted.memory = nullptr;
    of_lane[lane] = missing(wanted);
    ++arrived_;
    while (arrived_ < 2) std::this_thread::yield();
  }

 private:
  RunScope scope_;
  std::atomic<int> arrived_{0};
};

TEST(RunScope, FollowsLanesWithoutWhatOnlyTheRunKeeps) {
  for (const RunScope& scope : scopes()) {
    std::shared_ptr<Lanes> lanes;
    {
      ThreadPool pool(four_threads());
      const ScopedRunScope of_run(scope);
      lanes = std::make_shared<Lanes>(scope);
      run_steps(pool, lanes);
    }
    EXPECT_EQ(lanes->of_lane[0] + lanes->of_lane[1], "");
  }
}

}  // namespace
}  // namespace ortolan::base
