// Tests of SteppedWork: any number of lanes gives the same, also where one of them is held up.
#include "base/threads/stepped_work.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "base/threads/thread_pool.h"

namespace ortolan::base {
namespace {

uint64_t mixed(uint64_t a, uint64_t b) { return (a ^ (b + 0x9e3779b97f4a7c15 + (a << 6))) * 0xbf58476d1ce4e5b9; }

/** Each part hashes all parts of the step before. */
class Hashes : public SteppedWork {
 public:
  Hashes(int64_t steps, int lanes, int parts) : SteppedWork(steps, lanes), parts_(parts) {
    results_.resize(static_cast<size_t>(steps * lanes * parts));
    before_.resize(lanes, std::vector<uint64_t>(parts, 1));
  }
  /** After the walk. */
  const std::vector<uint64_t>& last() const { return before_[0]; }
  int64_t prepared() const { return prepared_; }
  std::atomic<int> held_up{-1};  // lane whose next part takes long
  std::atomic<bool> through{false};

 private:
  // A part of the walk is a share of these hashes.
  int first(int part) const { return parts_ * part / lanes(); }
  uint64_t& result(int64_t step, int lane, int i) {
    return results_[static_cast<size_t>((step * lanes() + lane) * parts_ + i)];
  }
  void prepare(int64_t step, int lane) noexcept override {
    if (lane == 0) {
      EXPECT_EQ(prepared_++, step);
    }
    for (int part = 0; step > 0 && part < lanes(); ++part) {
      for (int i = first(part); i < first(part + 1); ++i)
        before_[lane][i] = result(step - 1, winner(step - 1, part), i);
    }
  }
  void run_part(int64_t step, int part, int lane) noexcept override {
    for (int i = first(part); i < first(part + 1); ++i) {
      uint64_t sum = static_cast<uint64_t>(step * 1000 + i);
      for (uint64_t value : before_[lane]) sum = mixed(sum, value);
      result(step, lane, i) = sum;
    }
    // Workers may come late.
    for (int i = 0; lane == 0 && held_up > 0 && i < 5000; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    int wanted = lane;
    if (!held_up.compare_exchange_strong(wanted, -1)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    through = true;
  }

  int parts_;
  std::vector<uint64_t> results_;
  std::vector<std::vector<uint64_t>> before_;  // of each lane
  int64_t prepared_ = 0;
};

ThreadPool& pool_of(int threads) {
  static std::vector<std::unique_ptr<ThreadPool>> pools(9);
  if (!pools[threads]) {
    ThreadPool::Options options;
    options.threads = threads;
    pools[threads] = std::make_unique<ThreadPool>(options);
  }
  return *pools[threads];
}

std::vector<uint64_t> expected(int64_t steps, int parts) {
  Hashes alone(steps, 1, parts);
  alone.join(0);
  return alone.last();
}

TEST(SteppedWork, IsTheSameForAnyNumberOfLanes) {
  for (int64_t steps : {1, 2, 127, 128, 300}) {
    const auto wanted = expected(steps, 12);
    for (int lanes : {1, 2, 3, 5}) {
      for (int round = 0; round < 20; ++round) {
        auto work = std::make_shared<Hashes>(steps, lanes, 12);
        run_steps(pool_of(lanes), work);
        ASSERT_EQ(work->last(), wanted) << steps << " steps, " << lanes << " lanes";
        EXPECT_EQ(work->prepared(), steps + 1);
      }
    }
  }
}

TEST(SteppedWork, GoesOnWithoutALaneThatIsHeldUp) {
  const auto wanted = expected(2000, 6);
  int overtaken = 0;
  for (int attempt = 0; attempt < 20 && overtaken == 0; ++attempt) {
    auto work = std::make_shared<Hashes>(2000, 2, 6);
    work->held_up = 1;
    run_steps(pool_of(2), work);
    overtaken += work->held_up == -1 && !work->through;
    ASSERT_EQ(work->last(), wanted);
  }
  EXPECT_EQ(overtaken, 1);
}

TEST(SteppedWork, GoesOnWithoutItsCaller) {
  const auto wanted = expected(2000, 6);
  bool held_up = false;  // the workers may do all before it begins
  for (int attempt = 0; attempt < 20 && !held_up; ++attempt) {
    auto work = std::make_shared<Hashes>(2000, 3, 6);
    work->held_up = 0;
    run_steps(pool_of(3), work);
    held_up = work->through;
    ASSERT_EQ(work->last(), wanted);
    EXPECT_EQ(work->prepared(), 2001);
  }
  EXPECT_TRUE(held_up);
}

TEST(SteppedWork, NeedsNoWorkers) {
  const auto wanted = expected(50, 8);
  Hashes work(50, 4, 8);
  work.join(0);
  EXPECT_EQ(work.last(), wanted);
  work.join(2);  // too late: nothing is left
  EXPECT_EQ(work.last(), wanted);
}

}  // namespace
}  // namespace ortolan::base
