// Tests of TurnTaking: when a thread gives way, and whether it yields or sleeps, on a system whose clock is set by
// hand.
#include "base/threads/turn_taking.h"

#include <gtest/gtest.h>

namespace ortolan::base {
namespace {

using std::chrono::microseconds;

struct FakeSystem {
  using Clock = std::chrono::steady_clock;
  static inline Clock::time_point time{};
  static inline microseconds yield_takes{};
  static inline int yields = 0, sleeps = 0;

  static Clock::time_point now() { return time; }
  static void yield() {
    ++yields;
    time += yield_takes;
  }
  static void sleep(std::chrono::nanoseconds span) {
    ++sleeps;
    time += span;
  }
};

using Turns = TurnTaking<FakeSystem>;

class TurnTakingTest : public testing::Test {
 protected:
  void SetUp() override {
    FakeSystem::yields = FakeSystem::sleeps = 0;
    FakeSystem::yield_takes = microseconds(0);
    turns.begin();
  }
  /** Works for a little more than a turn, then gives way. */
  void one_turn() {
    FakeSystem::time += Turns::kTurn + microseconds(1);
    turns.give_way_if_over();
  }
  Turns turns;
};

TEST_F(TurnTakingTest, KeepsTheProcessorUntilTheTurnIsOver) {
  FakeSystem::time += Turns::kTurn;
  EXPECT_FALSE(turns.is_over());
  turns.give_way_if_over();
  EXPECT_EQ(FakeSystem::yields, 0);
  FakeSystem::time += microseconds(1);
  EXPECT_TRUE(turns.is_over());
  turns.give_way_if_over();
  EXPECT_EQ(FakeSystem::yields, 1);
  EXPECT_FALSE(turns.is_over());
}

TEST_F(TurnTakingTest, YieldsWhereNobodyElseRuns) {
  for (int i = 0; i < 100; ++i) one_turn();
  EXPECT_EQ(FakeSystem::yields, 100);
  EXPECT_EQ(FakeSystem::sleeps, 0);
}

TEST_F(TurnTakingTest, SleepsWhereOthersRunAndLooksAgain) {
  FakeSystem::yield_takes = Turns::kLongYield + microseconds(1);
  one_turn();
  for (int i = 0; i < Turns::kSleepsUntilNextYield; ++i) one_turn();
  EXPECT_EQ(FakeSystem::yields, 1);
  EXPECT_EQ(FakeSystem::sleeps, Turns::kSleepsUntilNextYield);
  FakeSystem::yield_takes = microseconds(0);  // they have gone
  for (int i = 0; i < 5; ++i) one_turn();
  EXPECT_EQ(FakeSystem::yields, 6);
  EXPECT_EQ(FakeSystem::sleeps, Turns::kSleepsUntilNextYield);
}

TEST_F(TurnTakingTest, BeginsAnewAfterASleepForWantOfWork) {
  FakeSystem::time += Turns::kTurn + microseconds(1);
  turns.begin();
  EXPECT_FALSE(turns.is_over());
}

}  // namespace
}  // namespace ortolan::base
