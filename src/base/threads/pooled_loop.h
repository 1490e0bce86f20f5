// One loop of a thread pool: its caller and the workers that join it claim pieces until none is left.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <vector>

#include "base/threads/announced_work.h"
#include "base/threads/loop_body.h"
#include "base/threads/run_scope.h"
#include "base/threads/turn_taking.h"

namespace ortolan::base {

/** A place for one loop after the other. Its caller opens the loop, works on it, and closes it; until then workers may
    join. Each group of members that other threads write often has a cache line of its own. */
class PooledLoop {
 public:
  void set_callbacks(const WorkCallbacks& callbacks, size_t most_helpers) {
    announced_.set_callbacks(callbacks, most_helpers);
  }

  static constexpr int kMostParts = 8;
  /** Loops go in so many parts, each of a consecutive share of the items, in proportion to its `threads`. A thread
     takes what is left of its own part before it helps with the next ones. Before the first loop; else there is one
     part. */
  void set_parts(const std::vector<int>& threads);

  // For the caller, in this order.

  /** False where another caller has the place. After true it is the caller's until give_back(). */
  bool take() noexcept {
    return !taken_.load(std::memory_order_relaxed) && !taken_.exchange(true, std::memory_order_acquire);
  }
  /** Up to `helpers` workers may be in the loop at a time. Ranges have at least `grain` items, and `chunk`, which is no
      less, where nobody may ask the run to stop. */
  void open(int64_t count, int64_t grain, int64_t chunk, LoopBody body, int helpers);
  void work_as_caller(int part = 0) noexcept;
  /** Waits for the workers that are inside. Returns what the first piece that failed has thrown. */
  std::exception_ptr close();
  void give_back() noexcept { taken_.store(false, std::memory_order_release); }

  // For workers.

  /** Whether a worker that joins finds something to do; it may be gone when the worker comes. */
  bool wants_help() const { return open_.load() && places_.load(std::memory_order_relaxed) > 0 && has_more(); }
  /** False where the loop is closed or has all its helpers. After true, work() and leave() must follow. */
  bool join() noexcept;
  /** Until no piece is left or the worker's turn is over. */
  void work(const TurnTaking<>& turn, int part = 0) noexcept;
  void leave() noexcept;

 private:
  struct alignas(64) Part {
    std::atomic<int64_t> next{0};  // the first item that nobody has claimed
    std::atomic<int64_t> end{0};
    int threads_so_far = 1;  // of this part and those before it

    bool has_more() const { return next.load(std::memory_order_relaxed) < end.load(std::memory_order_relaxed); }
  };

  template <class Stop>
  void claim_chunks(Stop stop, int own) noexcept;
  bool has_more() const {
    bool more = false;
    for (int part = 0; part < part_count_; ++part) more = more || parts_[part].has_more();
    return more;
  }
  void fail() noexcept;
  void wait_for_helpers();

  alignas(64) std::atomic<bool> taken_{false};

  // Written while nobody is inside.
  LoopBody body_;
  int64_t grain_ = 1, chunk_ = 1;
  int part_count_ = 1;
  RunScope scope_;
  std::exception_ptr failure_;
  std::atomic<bool> failed_{false};
  Announced announced_;

  std::array<Part, kMostParts> parts_;
  alignas(64) std::atomic<bool> open_{false};  // lets workers in
  std::atomic<int> places_{0};                 // of workers that may still join
  std::atomic<uint32_t> inside_{0};            // workers that have joined, or that are finding out whether they can
  std::atomic<bool> caller_sleeps_{false};
};

/** Whether loops of the calling thread are its alone (loops_alone.h). */
bool inside_pooled_loop() noexcept;

}  // namespace ortolan::base
