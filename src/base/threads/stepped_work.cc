// SteppedWork: parts of steps are claimed, done and, where their lane is held up, done again.
#include "base/threads/stepped_work.h"

#include <algorithm>
#include <chrono>

#include "base/checked.h"
#include "base/threads/pause.h"
#include "base/threads/run_scope.h"
#include "base/threads/thread_pool.h"

namespace ortolan::base {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint8_t kFree = 0, kBegun = 255;
constexpr int64_t kLineBytes = 128;  // lines that processors fetch together
// Parts that take longer than this and than twice what one takes are done again.
constexpr auto kPatience = std::chrono::microseconds(3);

}  // namespace

/** What one lane knows. */
struct SteppedWork::Lane {
  int index;
  int part;                              // the one to begin with
  bool begun = false;                    // whether `part` of the next step is this lane's already
  Clock::duration shortest = kPatience;  // time of a part
  bool timed = false;
};

SteppedWork::SteppedWork(int64_t steps, int lanes)
    : steps_(steps),
      stride_((checked_add(steps, kLineBytes) / kLineBytes + 1) * kLineBytes),
      lanes_(lanes),
      states_(std::make_unique<PartState[]>(static_cast<size_t>(checked_mul(stride_, int64_t{lanes})))) {}

bool SteppedWork::over(int64_t step, int part) const noexcept {
  const uint8_t now = state(step, part).load(std::memory_order_acquire);
  return now != kFree && now != kBegun;
}

/** Begins with the lane's own part, whose state is most likely at hand. */
bool SteppedWork::over(int64_t step, const Lane& lane) const noexcept {
  for (int i = 0; i < lanes_; ++i) {
    if (!over(step, (lane.part + i) % lanes_)) return false;
  }
  return true;
}

bool SteppedWork::claim(int64_t step, int part) noexcept {
  uint8_t now = state(step, part).load(std::memory_order_relaxed);
  return now == kFree && state(step, part).compare_exchange_strong(now, kBegun, std::memory_order_relaxed);
}

void SteppedWork::do_part(int64_t step, int part, Lane& lane) noexcept {
  const Clock::time_point start = Clock::now();
  run_part(step, part, lane.index);
  uint8_t now = kBegun;
  state(step, part).compare_exchange_strong(now, static_cast<uint8_t>(lane.index + 1), std::memory_order_acq_rel);
  const Clock::duration taken = Clock::now() - start;
  lane.shortest = lane.timed ? std::min(lane.shortest, taken) : taken;
  lane.timed = true;
}

/** Waits for a part that another lane has begun; does it where that takes too long. */
void SteppedWork::await(int64_t step, int part, Lane& lane) noexcept {
  const Clock::time_point until = Clock::now() + kPatience + 2 * lane.shortest;
  do {
    for (int i = 0; i < 8; ++i) {
      if (over(step, part)) return;
      pause_cpu();
    }
  } while (Clock::now() < until);
  do_part(step, part, lane);
}

void SteppedWork::take_step(int64_t step, Lane& lane) noexcept {
  const int first = lane.part;
  for (int i = 0; i < lanes_; ++i) {
    const int part = (first + i) % lanes_;
    if (!(i == 0 && lane.begun) && !claim(step, part)) continue;
    do_part(step, part, lane);
    lane.part = part;
  }
  lane.begun = step + 1 < steps_ && claim(step + 1, lane.part);
  for (int part = 0; part < lanes_; ++part) {
    if (!over(step, part)) await(step, part, lane);
  }
}

void SteppedWork::join(int index) noexcept {
  Lane lane{index, index};
  for (int64_t step = 0; step < steps_; ++step) {
    if (index == 0 && terminate_asked()) stopped_.store(true, std::memory_order_relaxed);
    if (stopped()) return;
    if (index != 0 && !lane.begun && over(step, lane)) continue;
    prepare(step, index);
    take_step(step, lane);
  }
  if (index == 0) prepare(steps_, 0);
}

void run_steps(ThreadPool& pool, const std::shared_ptr<SteppedWork>& work) {
  {
    const ScopedRunScope of_lanes(lasting_run_scope());
    for (int lane = 1; lane < work->lanes(); ++lane) pool.schedule([work, lane] { work->join(lane); });
  }
  work->join(0);
  if (work->stopped()) fail_terminated();
}

}  // namespace ortolan::base
