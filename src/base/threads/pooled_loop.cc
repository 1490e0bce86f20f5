// One loop of a thread pool, in pieces where somebody may ask for its end.
#include "base/threads/pooled_loop.h"

#include <algorithm>
#include <utility>

#include "base/threads/futex.h"
#include "base/threads/loop_division.h"
#include "base/threads/loops_alone.h"
#include "base/threads/pause.h"
#include "base/threads/piece_length.h"

namespace ortolan::base {
namespace {

constinit thread_local bool t_inside_loop = false;

constexpr int kCallerSpin = 4096;

}  // namespace

LoopsAlone::LoopsAlone(bool wanted) noexcept : before_(std::exchange(t_inside_loop, t_inside_loop || wanted)) {}

LoopsAlone::~LoopsAlone() { t_inside_loop = before_; }

bool inside_pooled_loop() noexcept { return t_inside_loop; }

void PooledLoop::set_parts(const std::vector<int>& threads) {
  part_count_ = static_cast<int>(threads.size());
  int so_far = 0;
  for (int part = 0; part < part_count_; ++part) parts_[part].threads_so_far = so_far += threads[part];
}

template <class Stop>
void PooledLoop::claim_chunks(Stop stop, int own) noexcept {
  const LoopsAlone inside_loop;
  PieceLength<> length(scope_.terminate != nullptr ? grain_ : chunk_, chunk_);
  int64_t wanted = length.next();
  for (int i = 0; i < part_count_; ++i) {
    Part& part = parts_[(own + i) % part_count_];
    const int64_t end = part.end.load(std::memory_order_relaxed);
    for (int64_t begin = 0; !stop() && (begin = part.next.fetch_add(wanted, std::memory_order_relaxed)) < end;) {
      try {
        check_terminate();
        body_.call(body_.context, begin, std::min(begin + wanted, end));
      } catch (...) {
        return fail();
      }
      wanted = length.next();
    }
  }
}

void PooledLoop::fail() noexcept {
  if (!failed_.exchange(true)) failure_ = std::current_exception();
  for (Part& part : parts_) part.next.store(part.end.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

void PooledLoop::open(int64_t count, int64_t grain, int64_t chunk, LoopBody body, int helpers) {
  body_ = body;
  grain_ = grain;
  chunk_ = chunk;
  scope_ = run_scope();
  int64_t begin = 0;
  for (int i = 0; i < part_count_; ++i) {
    Part& part = parts_[i];
    part.next.store(begin, std::memory_order_relaxed);
    begin = part_end(count, chunk, part.threads_so_far, parts_[part_count_ - 1].threads_so_far);
    part.end.store(begin, std::memory_order_relaxed);
  }
  if (announced_.active()) announced_.announce_helpers(static_cast<size_t>(helpers));
  places_.store(helpers, std::memory_order_relaxed);
  open_.store(true, std::memory_order_release);
}

void PooledLoop::work_as_caller(int part) noexcept {
  claim_chunks([] { return false; }, part);
}

std::exception_ptr PooledLoop::close() {
  open_.store(false);
  wait_for_helpers();
  if (announced_.active()) announced_.abandon_others();
  if (!failed_.load(std::memory_order_relaxed)) return nullptr;
  failed_.store(false, std::memory_order_relaxed);
  return std::exchange(failure_, nullptr);
}

void PooledLoop::wait_for_helpers() {
  for (int i = 0; i < kCallerSpin; ++i) {
    if (inside_.load() == 0) return;
    pause_cpu();
  }
  caller_sleeps_.store(true);
  for (uint32_t left; (left = inside_.load()) != 0;) futex_wait(inside_, left);
  caller_sleeps_.store(false);
}

// A worker counts itself in before it looks whether the loop is open, and the caller closes the loop before it looks at
// the count, so one of the two always sees the other.
bool PooledLoop::join() noexcept {
  inside_.fetch_add(1);
  if (open_.load()) {
    if (places_.fetch_sub(1) > 0) return true;
    places_.fetch_add(1);
  }
  if (inside_.fetch_sub(1) == 1 && caller_sleeps_.load()) futex_wake(inside_, 1);
  return false;
}

void PooledLoop::work(const TurnTaking<>& turn, int part) noexcept {
  const ScopedRunScope of_loop(scope_);
  auto claim = [&] { claim_chunks([&] { return turn.is_over(); }, part); };
  announced_.active() ? announced_.help(claim) : claim();
}

// A helper that the host was told of is one that comes once.
void PooledLoop::leave() noexcept {
  if (!announced_.active()) places_.fetch_add(1);
  if (inside_.fetch_sub(1) == 1 && caller_sleeps_.load()) futex_wake(inside_, 1);
}

}  // namespace ortolan::base
