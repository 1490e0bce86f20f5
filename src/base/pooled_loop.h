// One loop of a thread pool: its caller and the workers that join it claim pieces until none is left.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>

#include "base/announced_work.h"
#include "base/loop_body.h"
#include "base/run_scope.h"
#include "base/turn_taking.h"

namespace ortolan::base {

/** A place for one loop after the other. Its caller opens the loop, works on it, and closes it; until then workers may
    join. Each group of members that other threads write often has a cache line of its own. */
class PooledLoop {
 public:
  void set_callbacks(const WorkCallbacks& callbacks, size_t most_helpers) {
    announced_.set_callbacks(callbacks, most_helpers);
  }

  // For the caller, in this order.

  /** False where another caller has the place. After true it is the caller's until give_back(). */
  bool take() noexcept {
    return !taken_.load(std::memory_order_relaxed) && !taken_.exchange(true, std::memory_order_acquire);
  }
  /** Up to `helpers` workers may be in the loop at a time. Ranges have at least `grain` items, and `chunk`, which is no
      less, where nobody may ask the run to stop. */
  void open(int64_t count, int64_t grain, int64_t chunk, LoopBody body, int helpers);
  void work_as_caller() noexcept;
  /** Waits for the workers that are inside. Returns what the first piece that failed has thrown. */
  std::exception_ptr close();
  void give_back() noexcept { taken_.store(false, std::memory_order_release); }

  // For workers.

  /** Whether a worker that joins finds something to do; it may be gone when the worker comes. */
  bool wants_help() const {
    return open_.load() && places_.load(std::memory_order_relaxed) > 0 &&
           next_.load(std::memory_order_relaxed) < count_.load(std::memory_order_relaxed);
  }
  /** False where the loop is closed or has all its helpers. After true, work() and leave() must follow. */
  bool join() noexcept;
  /** Until no piece is left or the worker's turn is over. */
  void work(const TurnTaking<>& turn) noexcept;
  void leave() noexcept;

 private:
  template <class Stop>
  void claim_chunks(Stop stop) noexcept;
  void fail() noexcept;
  void wait_for_helpers();

  alignas(64) std::atomic<bool> taken_{false};

  // Written while nobody is inside; the count also by who fails.
  LoopBody body_;
  int64_t grain_ = 1, chunk_ = 1;
  std::atomic<int64_t> count_{0};
  RunScope scope_;
  std::exception_ptr failure_;
  std::atomic<bool> failed_{false};
  Announced announced_;

  alignas(64) std::atomic<int64_t> next_{0};   // the first item that nobody has claimed
  alignas(64) std::atomic<bool> open_{false};  // lets workers in
  std::atomic<int> places_{0};                 // of workers that may still join
  std::atomic<uint32_t> inside_{0};            // workers that have joined, or that are finding out whether they can
  std::atomic<bool> caller_sleeps_{false};
};

/** Whether the calling thread is in a loop of any pool. */
bool inside_pooled_loop() noexcept;

}  // namespace ortolan::base
