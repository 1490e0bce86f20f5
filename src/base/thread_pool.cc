// ThreadPool: loops, which go in pieces where somebody may ask for their end.
#include "base/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <exception>

#include "base/cpu_features.h"
#include "base/error.h"
#include "base/futex.h"
#include "base/pause.h"
#include "base/piece_length.h"
#include "base/run_scope.h"
#include "base/thread_pool_state.h"
#include "base/work_callbacks.h"

namespace ortolan::base {
namespace {

constinit thread_local bool t_inside_loop = false;
constinit thread_local const WorkCallbacks* t_work_callbacks = nullptr;  // of pools that are made here

constexpr int64_t kChunksPerThread = 8;
constexpr int kCallerSpin = 4096;

class InsideLoop {
 public:
  InsideLoop() : before_(t_inside_loop) { t_inside_loop = true; }
  ~InsideLoop() { t_inside_loop = before_; }

 private:
  bool before_;
};

/** A loop that nobody helps with: in one piece, unless somebody may ask the run to stop. */
template <class LoopBody>
void run_alone(int64_t count, int64_t grain, LoopBody body, void* context) {
  if (run_scope().terminate == nullptr) return body(context, 0, count);
  PieceLength<> length(grain, count);
  for (int64_t begin = 0, end = 0; begin < count; begin = end) {
    check_terminate();
    end = begin + std::min(length.next(), count - begin);
    body(context, begin, end);
  }
}

}  // namespace

template <class Stop>
void ThreadPool::State::claim_chunks(Stop stop) noexcept {
  InsideLoop inside_loop;
  PieceLength<> length(scope.terminate != nullptr ? grain : chunk, chunk);
  while (!stop()) {
    const int64_t wanted = length.next();
    const int64_t begin = next.fetch_add(wanted, std::memory_order_relaxed);
    if (begin >= count) return;
    try {
      check_terminate();
      body(context, begin, std::min(begin + wanted, count));
    } catch (...) {
      return fail_loop();
    }
  }
}

void ThreadPool::State::fail_loop() noexcept {
  if (!failed.exchange(true)) failure = std::current_exception();
  next.store(count, std::memory_order_relaxed);
}

// A worker counts itself in before it looks whether the slot is open, and the owner closes the slot before it looks at
// the count, so one of the two always sees the other.
void ThreadPool::State::help_loop(const TurnTaking<>& turn) noexcept {
  inside.fetch_add(1);
  if (open.load()) {
    const ScopedRunScope of_loop(scope);
    auto claim = [&] { claim_chunks([&] { return turn.is_over(); }); };
    announced.active() ? announced.help(claim) : claim();
  }
  if (inside.fetch_sub(1) == 1 && caller_sleeps.load()) futex_wake(inside, 1);
}

// Gives way between chunks and outside the slot, where no caller waits for this thread.
void ThreadPool::State::help_loops(TurnTaking<>& turn) noexcept {
  while (open.load()) {
    help_loop(turn);
    if (!turn.is_over()) return;
    turn.give_way_if_over();
  }
}

void ThreadPool::State::close_loop() {
  open.store(false);
  for (int i = 0; i < kCallerSpin; ++i) {
    if (inside.load() == 0) return;
    pause_cpu();
  }
  caller_sleeps.store(true);
  for (uint32_t left; (left = inside.load()) != 0;) futex_wait(inside, left);
  caller_sleeps.store(false);
}

ThreadPool::ThreadPool(const Options& options) : state_(std::make_unique<State>()) {
  degree_ = options.threads > 0 ? options.threads : available_threads();
  state_->options = options;
  if (t_work_callbacks != nullptr) state_->announced.set_callbacks(*t_work_callbacks, static_cast<size_t>(degree_));
  require(options.hooks.create == nullptr || options.hooks.join != nullptr, ErrorCode::kInvalidArgument,
          "the host makes the threads of a pool, but gives no function that joins them; set both");
  state_->affinity = parse_affinity(options.affinity);
  const int groups = static_cast<int>(state_->affinity.size());
  require(groups == 0 || groups == degree_ - 1, ErrorCode::kInvalidArgument, "thread affinity '", options.affinity,
          "' names ", groups, " groups for a pool of ", degree_, " threads; give one group for each of the ",
          degree_ - 1, " worker threads (the calling thread is not pinned)");
}

bool ThreadPool::inside_loop() noexcept { return t_inside_loop; }

ScopedWorkCallbacks::ScopedWorkCallbacks(const WorkCallbacks& callbacks)
    : before_(std::exchange(t_work_callbacks, &callbacks)) {}

ScopedWorkCallbacks::~ScopedWorkCallbacks() { t_work_callbacks = before_; }

void ThreadPool::run_loop(int64_t count, int64_t grain, LoopBody body, void* context) {
  State& state = *state_;
  if (degree_ == 1 || inside_loop() || state.orphaned()) return run_alone(count, grain, body, context);
  if (!state.started.load(std::memory_order_acquire)) state.start(degree_ - 1);
  if (state.owner.exchange(true, std::memory_order_acquire)) return run_alone(count, grain, body, context);
  const int64_t fair = count / (degree_ * kChunksPerThread);
  state.body = body;
  state.context = context;
  state.count = count;
  state.grain = grain;
  state.scope = run_scope();
  state.chunk = std::max(grain, fair);
  state.next.store(0, std::memory_order_relaxed);
  const int64_t chunks = (count - 1) / state.chunk + 1;
  const int64_t helpers = std::min<int64_t>(chunks - 1, degree_ - 1);
  if (state.announced.active()) state.announced.announce_helpers(static_cast<size_t>(helpers));
  state.caller_processor.store(sched_getcpu(), std::memory_order_relaxed);
  state.open.store(true);
  state.notify(static_cast<int>(helpers));
  state.claim_chunks([] { return false; });
  state.close_loop();
  if (state.announced.active()) state.announced.abandon_others();
  std::exception_ptr failure;
  if (state.failed.load(std::memory_order_relaxed)) {
    failure = std::exchange(state.failure, nullptr);
    state.failed.store(false, std::memory_order_relaxed);
  }
  state.owner.store(false, std::memory_order_release);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace ortolan::base
