// When a thread that computes for long lets others have its processor.
#pragma once

#include <sched.h>
#include <time.h>

#include <chrono>

namespace ortolan::base {

// The system as TurnTaking needs it.
struct SystemTurns {
  using Clock = std::chrono::steady_clock;
  static Clock::time_point now() { return Clock::now(); }
  static void yield() { sched_yield(); }
  static void sleep(std::chrono::nanoseconds time) {
    const timespec asked{0, static_cast<long>(time.count())};
    nanosleep(&asked, nullptr);
  }
};

// A system with more threads than processors stops a thread at the end of its turn wherever it is, and whoever waits
// for the piece that it has begun then waits for the whole turn of another. A thread that ends its turns itself, while
// it holds nothing, keeps nobody waiting, and after a short sleep it is let in before those that never sleep. Where the
// processor turns out to be wanted by nobody, no turn ends with a sleep. An object serves one thread.
template <class System = SystemTurns>
class TurnTaking {
 public:
  // Shorter than a turn that a busy system gives (2.8 ms and more), and long beside a yield.
  static constexpr std::chrono::microseconds kTurn{1000};
  static constexpr std::chrono::microseconds kSleep{50};
  static constexpr std::chrono::microseconds kLongYield{100};  // others were there
  static constexpr int kSleepsUntilNextYield = 32;             // which looks whether they still are

  // Call when the thread begins, and when it has slept for want of work.
  void begin() { end_ = System::now() + kTurn; }

  bool is_over() const { return System::now() > end_; }

  // Call where nobody waits for this thread. Does nothing before the turn is over.
  void give_way_if_over() {
    const auto start = System::now();
    if (start <= end_) return;
    sleeps_left_ > 0 ? sleep() : yield(start);
    begin();
  }

 private:
  using Time = decltype(System::now());

  void sleep() {
    --sleeps_left_;
    System::sleep(kSleep);
  }
  void yield(Time start) {
    System::yield();
    if (System::now() - start > kLongYield) sleeps_left_ = kSleepsUntilNextYield;
  }

  Time end_{};
  int sleeps_left_ = 0;
};

}  // namespace ortolan::base
