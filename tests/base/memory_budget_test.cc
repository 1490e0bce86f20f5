// Budgets: what is charged, refused and given back, by whom and on which thread.
#include "base/memory/memory_budget.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "../thrown_text.h"
#include "base/error.h"
#include "base/threads/run_scope.h"
#include "base/threads/thread_pool.h"

namespace ortolan::base {
namespace {

/** The calling thread works for a run with that budget. */
class InRun {
 public:
  explicit InRun(MemoryBudget& budget) : scope_(RunScope{.memory = &budget}) {}

 private:
  ScopedRunScope scope_;
};

MemoryBudget::OfRun budget_of(size_t limit) { return MemoryBudget::make(limit, "raise the test's limit"); }

TEST(MemoryBudget, RefusesWhatIsBeyondItAndSaysHowToRaiseIt) {
  auto budget = budget_of(100);
  budget->charge(60);
  try {
    budget->charge(41);
    FAIL() << "101 bytes were allowed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kFail);
    EXPECT_EQ(error.text(),
              "41 bytes are needed beside the 60 that the run holds, more than the 100 that it may; use smaller inputs "
              "or raise the test's limit");
  }
  EXPECT_EQ(budget->in_use(), 60u);
  budget->charge(40);
  for (size_t bytes : {SIZE_MAX, SIZE_MAX - 50}) {
    EXPECT_TRUE(
        test::throws(std::to_string(bytes) + " bytes are needed beside the 100", [&] { budget->charge(bytes); }));
  }
  budget->release(100);
  EXPECT_EQ(budget->in_use(), 0u);
}

TEST(MemoryCharge, IsGivenBackWhenItEnds) {
  auto budget = budget_of(100);
  const InRun run(*budget);
  {
    MemoryCharge charge(30);
    charge.add(20);
    MemoryCharge moved(std::move(charge));
    EXPECT_EQ(budget->in_use(), 50u);
    EXPECT_TRUE(test::throws("51 bytes are needed beside the 50", [&] { moved.add(51); }));
    EXPECT_EQ(moved.bytes(), 50u);
  }
  EXPECT_EQ(budget->in_use(), 0u);
  EXPECT_TRUE(test::throws("101 bytes are needed beside the 0", [] { MemoryCharge(101); }));
  EXPECT_EQ(budget->in_use(), 0u);
}

TEST(MemoryCharge, OutsideOfRunsIsNobodys) {
  const MemoryCharge charge(SIZE_MAX);
  EXPECT_EQ(charge.bytes(), 0u);
}

TEST(MemoryCharge, OutlivesTheRun) {
  auto budget = budget_of(100);
  MemoryCharge kept, last;
  {
    const InRun run(*budget);
    kept = MemoryCharge(10);
    last = MemoryCharge(20);
  }
  EXPECT_EQ(budget->in_use(), 30u);
  budget.reset();
  kept = MemoryCharge();
  EXPECT_EQ(last.bytes(), 20u);
  EXPECT_EQ(last.budget()->limit(), 100u);  // still there
}

TEST(MemoryCharge, OfHelpingThreadsIsTheRuns) {
  ThreadPool pool({.threads = 3});
  auto budget = budget_of(1 << 20);
  const InRun run(*budget);
  std::vector<MemoryCharge> charges(300);
  pool.parallel_for(300, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) charges[static_cast<size_t>(i)] = MemoryCharge(7);
  });
  EXPECT_EQ(budget->in_use(), 2100u);
}

TEST(MemoryBudget, IsExactWithSeveralThreads) {
  auto budget = budget_of(1000);
  auto work = [&] {
    const InRun run(*budget);
    for (int i = 0; i < 5000; ++i) {
      try {
        const MemoryCharge charge(300);
      } catch (const Error&) {
      }
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(budget->in_use(), 0u);
}

TEST(StringTally, HoldsLongStringsUntilTheNodeIsDone) {
  auto budget = budget_of(100);
  {
    StringTally tally(*budget);
    const ScopedRunScope scope(RunScope{.memory = budget.get(), .strings = &tally});
    count_string(15);
    EXPECT_EQ(budget->in_use(), 0u);
    count_string(16);
    count_string(60);
    EXPECT_EQ(budget->in_use(), 76u);
    EXPECT_TRUE(test::throws("25 bytes are needed beside the 76", [] { count_string(25); }));
  }
  EXPECT_EQ(budget->in_use(), 0u);
  count_string(SIZE_MAX);  // nobody's
}

}  // namespace
}  // namespace ortolan::base
