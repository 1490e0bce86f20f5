// Tests of JointWork: members' steps are those of each alone, whoever does them, and nobody is left behind.
#include "base/threads/joint_work.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "../thrown_text.h"
#include "base/error.h"
#include "base/threads/counted_in.h"
#include "base/threads/processor_count.h"
#include "base/threads/run_scope.h"

namespace ortolan::base {
namespace {

using std::chrono::milliseconds;

struct Awake {
  std::atomic<int> awake{0};
};

/** Each step of a member hashes the one before. */
class JointHashes final : public Awake, public JointWork {
 public:
  struct Hash : Member {
    Hash(int64_t steps, uint64_t seed) : Member(steps), value(seed) {}
    uint64_t value;
    bool flushes = denormals_are_zero();
  };

  explicit JointHashes(int members) : JointWork(members, awake) {}
  static uint64_t next(uint64_t value, int64_t step) {
    return (value ^ static_cast<uint64_t>(step)) * 0xbf58476d1ce4e5b9 + (value >> 31);
  }
  static uint64_t alone(int64_t steps, uint64_t seed) {
    for (int64_t step = 0; step < steps; ++step) seed = next(seed, step);
    return seed;
  }

  std::atomic<int> came{0}, at_work{0}, most_at_work{0}, steps{0};
  std::atomic<size_t> most_members{0};
  std::atomic<int> gate_step{-1};  // where the first member waits until this is -1 again

 private:
  template <class T>
  static void raise(std::atomic<T>& most, T value) {
    for (T now = most; now < value && !most.compare_exchange_weak(now, value);) continue;
  }
  void take_step(std::span<Member* const> members, bool odd) noexcept override {
    raise(most_at_work, ++at_work);
    raise(most_members, members.size());
    ++steps;
    for (Member* const member : members) {
      auto& hash = static_cast<Hash&>(*member);
      EXPECT_EQ(hash.step() % 2 != 0, odd);
      EXPECT_EQ(hash.flushes, denormals_are_zero());
      hash.value = next(hash.value, hash.step());
    }
    while (gate_step >= 0 && members[0]->step() == gate_step) std::this_thread::yield();
    --at_work;
  }
};

/** What a thread got for its work. */
struct Outcome {
  std::thread thread;
  uint64_t value = 0;
  std::string error;
};

std::unique_ptr<Outcome> start(JointHashes& work, int64_t steps, uint64_t seed, RunScope scope = {}) {
  auto outcome = std::make_unique<Outcome>();
  outcome->thread = std::thread([&work, steps, seed, scope, own = outcome.get()] {
    const ScopedRunScope of_run(scope);
    const CountedIn counted(work.awake);
    ++work.came;
    JointHashes::Hash hash(steps, seed);
    own->error = test::error_of([&] { work.do_steps(hash); });
    own->value = hash.value;
  });
  return outcome;
}

void wait_for(const std::function<bool()>& condition) {
  for (int i = 0; i < 10'000 && !condition(); ++i) std::this_thread::sleep_for(milliseconds(1));
  ASSERT_TRUE(condition());
}

TEST(JointWork, GivesEachThreadWhatItHasAlone) {
  for (int processors : {1, 2, 3, 64}) {
    const PretendedProcessors pretended(processors);
    for (int members : {1, 2, 3, JointWork::kMostMembers}) {
      JointHashes work(members);
      std::vector<std::thread> threads;
      for (uint64_t t = 0; t < 12; ++t) {
        threads.emplace_back([&work, t] {
          for (uint64_t i = 0; i < 60; ++i) {
            const int64_t steps = static_cast<int64_t>((t * 37 + i * 11) % 150);
            const CountedIn counted(work.awake);
            JointHashes::Hash hash(steps, t * 1000 + i);
            work.do_steps(hash);
            EXPECT_EQ(hash.value, JointHashes::alone(steps, t * 1000 + i));
            EXPECT_EQ(hash.step(), steps);
          }
        });
      }
      for (std::thread& thread : threads) thread.join();
      EXPECT_LE(work.most_at_work, processors);
      EXPECT_LE(work.most_members, static_cast<size_t>(members));
      EXPECT_EQ(work.at_work, 0);
      EXPECT_EQ(work.awake, 0);
    }
  }
}

TEST(JointWork, TakesThoseThatComeLaterIntoItsSteps) {
  const PretendedProcessors one(1);
  JointHashes work(4);
  work.gate_step = 10;
  std::vector<std::unique_ptr<Outcome>> threads;
  threads.push_back(start(work, 100, 0));
  wait_for([&] { return work.steps == 11; });
  for (uint64_t i = 1; i < 4; ++i) threads.push_back(start(work, 100, i));
  wait_for([&] { return work.came == 4 && work.awake == 1; });
  work.gate_step = -1;
  for (uint64_t i = 0; i < 4; ++i) {
    threads[i]->thread.join();
    EXPECT_EQ(threads[i]->value, JointHashes::alone(100, i));
  }
  EXPECT_EQ(work.most_members, 4u);
  EXPECT_EQ(work.most_at_work, 1);
  EXPECT_EQ(work.steps, 112);  // they come at step 12, an even one, and have theirs together
}

TEST(JointWork, LeadsNoMoreThanItHasProcessorsFor) {
  const PretendedProcessors two(2);
  JointHashes work(1);
  std::vector<std::unique_ptr<Outcome>> threads;
  for (uint64_t i = 0; i < 9; ++i) threads.push_back(start(work, 20'000, i));
  for (uint64_t i = 0; i < 9; ++i) {
    threads[i]->thread.join();
    EXPECT_EQ(threads[i]->value, JointHashes::alone(20'000, i));
  }
  EXPECT_EQ(work.steps, 9 * 20'000);
  EXPECT_LE(work.most_at_work, 2);
}

TEST(JointWork, LetsThoseThatWaitLeadWhenProcessorsAreFree) {
  const PretendedProcessors two(2);
  JointHashes work(1);
  work.awake = 5;
  work.gate_step = 10;
  std::vector<std::unique_ptr<Outcome>> threads;
  threads.push_back(start(work, 2000, 0));
  wait_for([&] { return work.steps == 11; });
  threads.push_back(start(work, 2000, 1));
  wait_for([&] { return work.came == 2 && work.awake == 6; });
  EXPECT_EQ(work.most_at_work, 1);
  work.awake -= 5;
  work.gate_step = 1000;
  wait_for([&] { return work.most_at_work == 2; });
  work.gate_step = -1;
  for (uint64_t i = 0; i < 2; ++i) {
    threads[i]->thread.join();
    EXPECT_EQ(threads[i]->value, JointHashes::alone(2000, i));
  }
  EXPECT_EQ(work.awake, 0);
}

TEST(JointWork, StopsTheRunThatIsAskedAndNoOther) {
  const PretendedProcessors one(1);
  for (size_t asked = 0; asked < 3; ++asked) {  // who leads, who is led, and who waits for room
    JointHashes work(2);
    std::atomic<bool> terminate[3] = {};
    work.gate_step = 10;
    std::vector<std::unique_ptr<Outcome>> threads;
    for (uint64_t i = 0; i < 3; ++i) {
      RunScope scope;
      scope.terminate = &terminate[i];
      threads.push_back(start(work, 1000, i, scope));
      if (i == 0) wait_for([&] { return work.steps == 11; });
      std::this_thread::sleep_for(milliseconds(20));
    }
    terminate[asked] = true;
    work.gate_step = -1;
    for (uint64_t i = 0; i < 3; ++i) {
      threads[i]->thread.join();
      if (i == asked) {
        EXPECT_NE(threads[i]->error.find("terminate"), std::string::npos) << threads[i]->error;
        EXPECT_NE(threads[i]->value, JointHashes::alone(1000, i));
      } else {
        EXPECT_EQ(threads[i]->error, "");
        EXPECT_EQ(threads[i]->value, JointHashes::alone(1000, i));
      }
    }
    const CountedIn counted(work.awake);
    JointHashes::Hash after(5, 7);
    work.do_steps(after);  // alone again
    EXPECT_EQ(after.value, JointHashes::alone(5, 7));
  }
}

TEST(JointWork, KeepsThreadsApartThatComputeOtherwise) {
  if (!can_flush_denormals()) GTEST_SKIP() << "this processor keeps denormals";
  const PretendedProcessors one(1);
  JointHashes work(4);
  std::vector<std::unique_ptr<Outcome>> threads;
  work.gate_step = 0;
  for (uint64_t i = 0; i < 8; ++i) {
    RunScope scope;
    scope.denormals_are_zero = i % 2 != 0;
    threads.push_back(start(work, 200, i, scope));
  }
  std::this_thread::sleep_for(milliseconds(50));
  work.gate_step = -1;
  for (uint64_t i = 0; i < 8; ++i) {
    threads[i]->thread.join();
    EXPECT_EQ(threads[i]->value, JointHashes::alone(200, i));
  }
}

TEST(JointWork, WorksInACopyOfTheProcessWhoseLeadersAreNotThere) {
  const PretendedProcessors one(1);
  JointHashes work(4);
  work.gate_step = 3;
  const auto leader = start(work, 10, 1);
  wait_for([&] { return work.steps == 4; });
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    work.gate_step = -1;
    const CountedIn counted(work.awake);
    JointHashes::Hash hash(10, 2);
    work.do_steps(hash);
    _exit(hash.value == JointHashes::alone(10, 2) ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  work.gate_step = -1;
  leader->thread.join();
  EXPECT_EQ(leader->value, JointHashes::alone(10, 1));
}

}  // namespace
}  // namespace ortolan::base
