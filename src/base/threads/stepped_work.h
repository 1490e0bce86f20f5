// Work of many short steps, each of which needs all of the step before, for threads that wait for no thread that the
// system keeps from running.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace ortolan::base {

class ThreadPool;

/**
 * Steps of as many parts as there are lanes. A lane is a thread that takes part; it keeps to the part that it did last,
 * and takes others where nobody else has begun them. Where a part that another lane has begun takes too long, a lane
 * does it once more; the first result is the one that counts. So each lane writes to memory of its own, which nobody
 * reads before winner() names that lane, and nothing that is read is ever written again. Lanes other than 0 may still
 * be busy with a part that no longer matters when run_steps() has returned: all that a part uses belongs to the object.
 */
class SteppedWork {
 public:
  /** Both at least 1; up to 250 lanes. Throws std::bad_alloc. */
  SteppedWork(int64_t steps, int lanes);
  virtual ~SteppedWork() = default;
  SteppedWork(const SteppedWork&) = delete;
  SteppedWork& operator=(const SteppedWork&) = delete;

  int64_t steps() const noexcept { return steps_; }
  int lanes() const noexcept { return lanes_; }
  /** The lane whose result of a part counts; of a step that is over. */
  int winner(int64_t step, int part) const noexcept { return state(step, part).load(std::memory_order_acquire) - 1; }
  /** Takes part until all steps are over, or, where the run of lane 0's thread is asked to stop, until the step that
      this lane is at. Called once for each lane, lane 0 for certain. */
  void join(int lane) noexcept;
  /** Whether steps were left out because the run was asked to stop. */
  bool stopped() const noexcept { return stopped_.load(std::memory_order_relaxed); }

 protected:
  /** All steps before `step` are over. Called before a lane does parts of it; in lane 0 for each step from 0 to
      steps(), one after the other, while other lanes leave out those that are over already. */
  virtual void prepare(int64_t step, int lane) noexcept = 0;
  /** Called once at most for the same three numbers. */
  virtual void run_part(int64_t step, int part, int lane) noexcept = 0;

 private:
  struct Lane;
  using PartState = std::atomic<uint8_t>;  // kFree, kBegun, or the winner plus 1
  PartState& state(int64_t step, int part) const noexcept {
    return states_[static_cast<size_t>(part * stride_ + step)];
  }
  bool over(int64_t step, int part) const noexcept;
  bool over(int64_t step, const Lane& lane) const noexcept;
  bool claim(int64_t step, int part) noexcept;
  void take_step(int64_t step, Lane& lane) noexcept;
  void do_part(int64_t step, int part, Lane& lane) noexcept;
  void await(int64_t step, int part, Lane& lane) noexcept;

  int64_t steps_, stride_;
  int lanes_;
  std::unique_ptr<PartState[]> states_;  // of each part, in its own cache lines
  std::atomic<bool> stopped_{false};
};

/** Does the work on the calling thread, lane 0, and on workers of the pool, as far as they come. Throws where the
    run is asked to stop. */
void run_steps(ThreadPool& pool, const std::shared_ptr<SteppedWork>& work);

}  // namespace ortolan::base
