// The workers of a ThreadPool: how they start, wait, carry out tasks and end, and who does so where there are none.
#include <sched.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <limits>
#include <utility>

#include "base/threads/futex.h"
#include "base/threads/pause.h"
#include "base/threads/processor_count.h"
#include "base/threads/thread_pool_state.h"

namespace ortolan::base {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kBetweenMoves = std::chrono::milliseconds(1);  // of a worker away from the caller's processor

}  // namespace

bool ThreadPool::State::orphaned() const { return count_forks() != made_after_forks; }

// Free workers come by themselves.
void ThreadPool::State::call_helpers(int count) {
  signal.fetch_add(1);
  const int missing = count - free_workers.load();
  if (missing > 0 && sleepers.load() > 0) futex_wake(signal, std::min(missing, kWakesEach));
}

// Loops have their turns: a worker looks first behind the one that it was in last.
PooledLoop* ThreadPool::State::join_loop(Worker& worker) noexcept {
  constexpr int kBits = std::numeric_limits<uint32_t>::digits;
  for (uint32_t left = std::rotr(open.load(), worker.next_place); left != 0; left &= left - 1) {
    const int place = (std::countr_zero(left) + worker.next_place) % kBits;
    if (!loops[place].wants_help() || !loops[place].join()) continue;
    worker.next_place = (place + 1) % kBits;
    return &loops[place];
  }
  return nullptr;
}

// Gives way between chunks and outside the loop, where no caller waits for this thread. Who has been woken wakes the
// next few, so that no thread pays for all.
bool ThreadPool::State::help_loop(Worker& worker) noexcept {
  PooledLoop* const loop = join_loop(worker);
  if (loop == nullptr) return false;
  set_free(worker, false);
  if (sleepers.load() > 0 && loop->wants_help()) futex_wake(signal, kWakesEach);
  loop->work(worker.turn, worker.part);
  set_free(worker, true);
  loop->leave();
  worker.turn.give_way_if_over();
  return true;
}

void ThreadPool::State::run(Queued& next) const noexcept {
  const ScopedRunScope of_task(next.scope);
  announced.start(next.piece);
  next.task();
  announced.stop(next.piece);
}

bool ThreadPool::State::run_task() noexcept {
  if (queued.load() == 0) return false;
  Queued next;
  {
    std::lock_guard lock(mutex);
    if (tasks.empty()) return false;
    next = std::move(tasks.front());
    tasks.pop_front();
    queued.fetch_sub(1);
  }
  run(next);
  return true;
}

// What a task schedules in its turn comes after it rather than within it, so that a chain of tasks needs no more stack
// than one. The pool may be gone as soon as its last task is.
void ThreadPool::State::run_here(Queued first) {
  for (Here* outer = here; outer != nullptr; outer = outer->outer) {
    if (outer->pool == this) return outer->waiting.push_back(std::move(first));
  }
  Here mine{this, here, {}};
  mine.waiting.push_back(std::move(first));
  for (here = &mine; !mine.waiting.empty();) {
    Queued next = std::move(mine.waiting.front());
    mine.waiting.pop_front();
    run(next);
  }
  here = mine.outer;
}

// When the lock is given back, a worker may take the task, which may end the pool: nothing of it is read or written
// after that. To wake a thread takes the address alone.
void ThreadPool::State::enqueue(Queued next) {
  bool somebody_sleeps = false;
  {
    std::lock_guard lock(mutex);
    tasks.push_back(std::move(next));
    queued.fetch_add(1);
    caller_processor.store(sched_getcpu(), std::memory_order_relaxed);
    signal.fetch_add(1);
    somebody_sleeps = sleepers.load() > 0;
  }
  if (somebody_sleeps) futex_wake(signal, 1);
}

void ThreadPool::State::set_free(Worker& worker, bool is_free) noexcept {
  if (std::exchange(worker.is_free, is_free) != is_free) free_workers.fetch_add(is_free ? 1 : -1);
}

// More than there are processors for would take them from those that work.
void ThreadPool::State::spin_for_signal(uint32_t seen) const {
  if (free_workers.load() >= processors_at_once()) return;
  const auto until = Clock::now() + std::chrono::microseconds(options.spin_us);
  while (may_spin() && Clock::now() < until) {
    for (int i = 0; i < 32; ++i) {
      if (signal.load(std::memory_order_acquire) != seen) return;
      pause_cpu();
    }
  }
}

// Whoever counts on a free worker has changed the signal before, and a worker looks at the signal once more when it has
// ceased to be free.
void ThreadPool::State::wait_for_signal(uint32_t seen, Worker& worker) {
  set_free(worker, true);
  spin_for_signal(seen);
  if (signal.load() != seen) return;
  set_free(worker, false);
  if (signal.load() != seen) return;
  sleepers.fetch_add(1);
  while (signal.load() == seen) futex_wait(signal, seen);
  sleepers.fetch_sub(1);
  worker.turn.begin();
}

void ThreadPool::State::prepare_thread(const Worker& worker) const {
  char name[16];  // as long as the system allows
  std::snprintf(name, sizeof name, "%s-%d", options.name.c_str(), worker.index);
  pthread_setname_np(pthread_self(), name);
  if (worker.index >= static_cast<int>(affinity.size())) return;
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (int processor : affinity[worker.index]) CPU_SET(processor, &mask);
  pthread_setaffinity_np(pthread_self(), sizeof mask, &mask);
}

// The system may wake a worker on the caller's processor, where one of the two waits for the other, and leave it there
// while the other processors are busy.
void ThreadPool::State::keep_apart(Worker& worker) const {
  const int processor = sched_getcpu();
  if (processor < 0 || processor != caller_processor.load(std::memory_order_relaxed)) return;
  const Clock::time_point now = Clock::now();
  if (now - worker.moved < kBetweenMoves) return;
  worker.moved = now;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) return;
  cpu_set_t others = allowed;
  CPU_CLR(processor, &others);
  if (sched_setaffinity(0, sizeof others, &others) == 0) sched_setaffinity(0, sizeof allowed, &allowed);
}

void ThreadPool::State::work(Worker& worker) {
  prepare_thread(worker);
  worker.turn.begin();
  for (;;) {
    const uint32_t seen = signal.load();
    if (open.load() != 0 || queued.load() != 0) keep_apart(worker);
    const bool helped = help_loop(worker);
    if (queued.load() != 0) set_free(worker, false);
    if (run_task() || helped) continue;
    if (stop.load()) return;
    wait_for_signal(seen, worker);
  }
}

bool ThreadPool::State::start_thread(Worker& worker) {
  if (options.hooks.create != nullptr) {
    worker.hook_handle = options.hooks.create(options.hooks.options, &State::enter, &worker);
    return worker.hook_handle != nullptr;
  }
  auto run = [](void* self) -> void* {
    enter(self);
    return nullptr;
  };
  return pthread_create(&worker.thread, nullptr, run, &worker) == 0;
}

void ThreadPool::State::join(Worker& worker) const {
  if (options.hooks.create == nullptr) {
    pthread_join(worker.thread, nullptr);
  } else {
    options.hooks.join(worker.hook_handle);
  }
}

// Brings the pool to `wanted` workers, or as many as the system gives; returns how many there are.
int ThreadPool::State::start(int wanted) {
  std::lock_guard lock(mutex);
  while (static_cast<int>(workers.size()) < wanted) {
    workers.push_back(std::make_unique<Worker>());  // before its thread starts, which must not lose it
    Worker& worker = *workers.back();
    worker.pool = this;
    worker.index = static_cast<int>(workers.size()) - 1;
    worker.next_place = worker.index % kLoops;
    if (workers.size() < parts_of_threads.size()) worker.part = parts_of_threads[workers.size()];
    if (start_thread(worker)) continue;
    workers.pop_back();
    break;
  }
  started.store(true);
  return static_cast<int>(workers.size());
}

// The calling thread, where it is a worker, carries out what is queued, and is not joined.
void ThreadPool::State::end() {
  stop.store(true);
  signal.fetch_add(1);
  futex_wake(signal, std::numeric_limits<int>::max());
  for (auto& worker : workers) {
    if (worker.get() != current) join(*worker);
  }
  while (run_task()) continue;
}

// Ends the calling worker's pool when the worker has come to its own end. Where there is no thread that could wait for
// it, the pool's memory is never given back.
void ThreadPool::State::leave_to_others(std::unique_ptr<State> state) noexcept {
  auto wait = [](void* last) -> void* {
    auto* worker = static_cast<Worker*>(last);
    const std::unique_ptr<State> state(worker->pool);
    state->join(*worker);
    return nullptr;
  };
  pthread_t thread;
  if (pthread_create(&thread, nullptr, wait, current) == 0) pthread_detach(thread);
  (void)state.release();
}

ThreadPool::~ThreadPool() {
  if (state_->orphaned()) {
    (void)state_.release();  // its tasks and locks are those of threads that are not here
    return;
  }
  state_->end();
  const bool within = State::current != nullptr && State::current->pool == state_.get();
  if (within) State::leave_to_others(std::move(state_));
}

void ThreadPool::schedule(Task task) {
  State& state = *state_;
  State::Queued next{std::move(task), run_scope(), state.announced.announce()};
  if (state.orphaned() || state.start(std::max(1, threads_ - 1)) == 0) return state.run_here(std::move(next));
  state.enqueue(std::move(next));
}

}  // namespace ortolan::base
