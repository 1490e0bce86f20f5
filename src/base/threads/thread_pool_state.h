// What a ThreadPool is made of: places for the loops of concurrent callers, a task queue, and the workers.
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "base/threads/announced_work.h"
#include "base/threads/forks.h"
#include "base/threads/pooled_loop.h"
#include "base/threads/run_scope.h"
#include "base/threads/thread_pool.h"
#include "base/threads/turn_taking.h"

namespace ortolan::base {

struct ThreadPool::State {
  struct Worker {
    State* pool = nullptr;
    int index = 0;
    int part = 0;          // of loops, which is its own
    int next_place = 0;    // where it looks first for a loop
    bool is_free = false;  // counted in free_workers
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

  // A caller takes a place, opens its loop there, and lets workers in: the bits of `open` stand for the places.
  static constexpr int kLoops = 16;
  static constexpr int kWakesEach = 2;  // threads that a caller or worker wakes, which wake the others
  std::array<PooledLoop, kLoops> loops;

  // Changes whenever there may be something new to do.
  alignas(64) std::atomic<uint32_t> signal{0};
  std::atomic<uint32_t> open{0};
  std::atomic<int> callers{0};            // in loops; they part the processors among them
  std::atomic<int> caller_processor{-1};  // where the last caller ran
  std::atomic<int> sleepers{0};
  std::atomic<int> free_workers{0};  // that look for something to do, or are about to
  std::atomic<int> queued{0};
  std::atomic<bool> stop{false};
  std::atomic<int> uses{0};

  alignas(64) std::mutex mutex;  // guards tasks and workers
  std::deque<Queued> tasks;
  std::vector<std::unique_ptr<Worker>> workers;
  std::atomic<bool> started{false};
  const uint32_t made_after_forks = count_forks();

  Options options;
  std::vector<std::vector<int>> affinity;
  std::vector<int> parts_of_threads;     // the caller's first
  std::vector<int> parts_of_processors;  // by the nodes of memory; empty: the caller's part is the first
  Announced announced;                   // tasks

  void set_callbacks(const WorkCallbacks& callbacks, size_t most_helpers);
  void call_helpers(int count);

  /** Pins workers to nodes, the caller being the first thread, and gives loops a part for each node. */
  void follow_nodes(int threads);
  /** Gives loops a part for each thread, or for as many as there may be parts: where loops of the same length come
      one after the other, a thread finds in its caches what it has written before. */
  void follow_threads(int threads);
  /** The part of loops that belongs to the node of the processor that the calling thread, a caller, is on. */
  int part_here() const noexcept;

  /** Whether this is a copy in a forked process: its workers are not there, and its locks may be held by them. */
  bool orphaned() const;
  /** A place that is the caller's, or -1 where all are taken. */
  int take_place() noexcept;
  void let_in(int place, int helpers) noexcept;
  void shut_out(int place) noexcept { open.fetch_and(~(uint32_t{1} << place)); }
  /** The loop that the worker has joined, or NULL where none wants help. */
  PooledLoop* join_loop(Worker& worker) noexcept;
  bool help_loop(Worker& worker) noexcept;
  void run(Queued& next) const noexcept;
  bool run_task() noexcept;
  void run_here(Queued first);
  void enqueue(Queued next);
  void keep_apart(Worker& worker) const;
  bool may_spin() const {
    return options.allow_spinning && (!options.spin_only_in_use || uses.load(std::memory_order_relaxed) > 0);
  }
  void set_free(Worker& worker, bool is_free) noexcept;
  void spin_for_signal(uint32_t seen) const;
  void wait_for_signal(uint32_t seen, Worker& worker);
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
