// ThreadPool: one loop slot that workers join, a task queue, and bounded spinning before a futex sleep.
#include "base/thread_pool.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>
#include <exception>
#include <limits>
#include <mutex>

#include "base/announced_work.h"
#include "base/cpu_features.h"
#include "base/error.h"
#include "base/pause.h"
#include "base/run_scope.h"
#include "base/turn_taking.h"
#include "base/work_callbacks.h"

namespace ortolan::base {
namespace {

using Clock = std::chrono::steady_clock;

constinit thread_local bool t_inside_loop = false;
constinit thread_local const WorkCallbacks* t_work_callbacks = nullptr;  // of pools that are made here

constexpr int64_t kChunksPerThread = 8;
constexpr int kCallerSpin = 4096;

constexpr auto kBetweenMoves = std::chrono::milliseconds(1);  // of a worker away from the caller's processor

void futex_wait(std::atomic<uint32_t>& word, uint32_t expected) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

void futex_wake(std::atomic<uint32_t>& word, int count) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

std::atomic<uint32_t> forks_behind{0};  // forks between the program's first process and this one

uint32_t count_forks() {
  static const int registered = pthread_atfork(nullptr, nullptr, [] { forks_behind.fetch_add(1); });
  (void)registered;
  return forks_behind.load();
}

class InsideLoop {
 public:
  InsideLoop() : before_(t_inside_loop) { t_inside_loop = true; }
  ~InsideLoop() { t_inside_loop = before_; }

 private:
  bool before_;
};

}  // namespace

struct ThreadPool::State {
  struct Worker {
    State* pool = nullptr;
    int index = 0;
    void* hook_handle = nullptr;
    Clock::time_point moved{};  // away from a caller
    TurnTaking<> turn;
    pthread_t thread{};
  };
  struct Queued {
    Task task;
    RunScope scope;         // of the thread that scheduled it
    void* piece = nullptr;  // as the host knows it
  };
  // Tasks that the calling thread carries out because the pool has no other.
  struct Here {
    const State* pool;
    Here* outer;
    std::deque<Queued> waiting;
  };
  inline static constinit thread_local Worker* current = nullptr;  // the worker that the calling thread is
  inline static constinit thread_local Here* here = nullptr;

  // The loop slot. `owner` guards the plain fields; `open` lets workers in; `inside` counts workers in the slot.
  alignas(64) std::atomic<bool> owner{false};
  LoopBody body = nullptr;
  void* context = nullptr;
  int64_t count = 0, chunk = 1;
  RunScope scope;
  std::exception_ptr failure;
  std::atomic<bool> failed{false};
  alignas(64) std::atomic<int64_t> next{0};
  alignas(64) std::atomic<bool> open{false};
  std::atomic<uint32_t> inside{0};
  std::atomic<bool> caller_sleeps{false};
  std::atomic<int> caller_processor{-1};  // where the last caller ran

  // Changes whenever there may be something new to do.
  alignas(64) std::atomic<uint32_t> signal{0};
  std::atomic<int> sleepers{0};
  std::atomic<int> queued{0};
  std::atomic<bool> stop{false};

  alignas(64) std::mutex mutex;  // guards tasks and workers
  std::deque<Queued> tasks;
  std::vector<std::unique_ptr<Worker>> workers;
  std::atomic<bool> started{false};
  const uint32_t made_after_forks = count_forks();

  Options options;
  std::vector<std::vector<int>> affinity;
  Announced announced;  // of the loop slot

  void notify(int count) {
    signal.fetch_add(1);
    if (sleepers.load() > 0) futex_wake(signal, count);
  }

  /** Whether this is a copy in a forked process: its workers are not there, and its locks may be held by them. */
  bool orphaned() const { return forks_behind.load(std::memory_order_relaxed) != made_after_forks; }
  template <class Stop>
  void claim_chunks(Stop stop) noexcept;
  void fail_loop() noexcept;
  void help_loop(const TurnTaking<>& turn) noexcept;
  void help_loops(TurnTaking<>& turn) noexcept;
  void close_loop();
  void run(Queued& next) const noexcept;
  bool run_task() noexcept;
  void run_here(Queued first);
  void enqueue(Queued next);
  void keep_apart(Worker& worker) const;
  bool spin_for_signal(uint32_t seen) const;
  void wait_for_signal(uint32_t seen, TurnTaking<>& turn);
  void work(Worker& worker);
  void prepare_thread(const Worker& worker) const;
  int start(int wanted);
  bool start_thread(Worker& worker);
  void join(Worker& worker) const;
  void end();
  static void leave_to_others(std::unique_ptr<State> state) noexcept;
  static void enter(void* worker) {
    current = static_cast<Worker*>(worker);
    current->pool->work(*current);
    current = nullptr;
  }
};

template <class Stop>
void ThreadPool::State::claim_chunks(Stop stop) noexcept {
  InsideLoop inside_loop;
  while (!stop()) {
    const int64_t begin = next.fetch_add(chunk, std::memory_order_relaxed);
    if (begin >= count) return;
    try {
      body(context, begin, std::min(begin + chunk, count));
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

void ThreadPool::State::enqueue(Queued next) {
  std::lock_guard lock(mutex);
  tasks.push_back(std::move(next));
  queued.fetch_add(1);
}

bool ThreadPool::State::spin_for_signal(uint32_t seen) const {
  if (!options.allow_spinning) return signal.load() != seen;
  const auto until = Clock::now() + std::chrono::microseconds(options.spin_us);
  do {
    for (int i = 0; i < 32; ++i) {
      if (signal.load(std::memory_order_acquire) != seen) return true;
      pause_cpu();
    }
  } while (Clock::now() < until);
  return false;
}

void ThreadPool::State::wait_for_signal(uint32_t seen, TurnTaking<>& turn) {
  if (spin_for_signal(seen)) return;
  sleepers.fetch_add(1);
  while (signal.load() == seen) futex_wait(signal, seen);
  sleepers.fetch_sub(1);
  turn.begin();
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
    if (open.load() || queued.load() != 0) keep_apart(worker);
    help_loops(worker.turn);
    if (run_task()) continue;
    if (stop.load()) return;
    wait_for_signal(seen, worker.turn);
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
  notify(std::numeric_limits<int>::max());
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

ThreadPool::~ThreadPool() {
  if (state_->orphaned()) {
    (void)state_.release();  // its tasks and locks are those of threads that are not here
    return;
  }
  state_->end();
  const bool within = State::current != nullptr && State::current->pool == state_.get();
  if (within) State::leave_to_others(std::move(state_));
}

bool ThreadPool::inside_loop() noexcept { return t_inside_loop; }

ScopedWorkCallbacks::ScopedWorkCallbacks(const WorkCallbacks& callbacks)
    : before_(std::exchange(t_work_callbacks, &callbacks)) {}

ScopedWorkCallbacks::~ScopedWorkCallbacks() { t_work_callbacks = before_; }

void ThreadPool::run_loop(int64_t count, int64_t grain, LoopBody body, void* context) {
  State& state = *state_;
  if (state.orphaned()) return body(context, 0, count);
  if (!state.started.load(std::memory_order_acquire)) state.start(degree_ - 1);
  if (state.owner.exchange(true, std::memory_order_acquire)) {
    body(context, 0, count);
    return;
  }
  const int64_t fair = count / (degree_ * kChunksPerThread);
  state.body = body;
  state.context = context;
  state.count = count;
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

void ThreadPool::schedule(Task task) {
  State& state = *state_;
  State::Queued next{std::move(task), run_scope(), state.announced.announce()};
  if (state.orphaned() || state.start(std::max(1, degree_ - 1)) == 0) return state.run_here(std::move(next));
  state.enqueue(std::move(next));
  state.caller_processor.store(sched_getcpu(), std::memory_order_relaxed);
  state.notify(1);
}

}  // namespace ortolan::base
