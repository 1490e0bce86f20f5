// What a ThreadPool is made of: one loop slot that workers join, a task queue, and the workers.
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "base/announced_work.h"
#include "base/run_scope.h"
#include "base/thread_pool.h"
#include "base/turn_taking.h"

namespace ortolan::base {

/** Forks between the program's first process and this one. */
uint32_t count_forks();

struct ThreadPool::State {
  struct Worker {
    State* pool = nullptr;
    int index = 0;
    void* hook_handle = nullptr;
    std::chrono::steady_clock::time_point moved{};  // away from a caller
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
  int64_t count = 0, grain = 1, chunk = 1;
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

  void notify(int count);

  /** Whether this is a copy in a forked process: its workers are not there, and its locks may be held by them. */
  bool orphaned() const;
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

}  // namespace ortolan::base
