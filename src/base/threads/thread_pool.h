// A pool of worker threads for parallel loops, in which the calling thread takes part, and for tasks that run later.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/threads/loop_body.h"

namespace ortolan::base {

// How worker threads are made where the host wants to make them itself. `create` starts a thread that runs
// worker(param) and returns a handle, or nullptr on failure; `join` waits for that thread to end.
struct ThreadHooks {
  void* (*create)(void* options, void (*worker)(void*), void* param) = nullptr;
  void (*join)(void* handle) = nullptr;
  void* options = nullptr;
};

// A unit of work for ThreadPool::schedule: any callable that can be moved. It must not throw.
class Task {
 public:
  Task() = default;
  template <class F, class = std::enable_if_t<!std::is_same_v<std::decay_t<F>, Task>>>
  Task(F&& body) : body_(std::make_unique<Holder<std::decay_t<F>>>(std::forward<F>(body))) {}
  void operator()() { body_->run(); }
  explicit operator bool() const { return body_ != nullptr; }

 private:
  struct Body {
    virtual ~Body() = default;
    virtual void run() = 0;
  };
  template <class F>
  struct Holder final : Body {
    explicit Holder(F f) : call(std::move(f)) {}
    void run() override { call(); }
    F call;
  };
  std::unique_ptr<Body> body_;
};

// All members may be called from any thread. Workers start at the first use that needs them; an idle pool sleeps. In a
// process that forks, the child's copy of a pool has no workers: the caller does all work, and nothing is joined.
class ThreadPool {
 public:
  struct Options {
    int threads = 0;                // threads that work on a loop, the caller included; 0: available_threads()
    bool allow_spinning = true;     // false: workers sleep at once when there is nothing to do
    int spin_us = 200;              // how long an idle worker looks for work before it sleeps
    bool spin_only_in_use = false;  // true: only while a Use is there
    std::string affinity;           // processors (from 1) of each worker, as in "1,2;3-4"; empty: no pinning
    // The processors of each node of memory (memory_nodes.h). Where there are several and no affinity, workers are
    // pinned to their nodes, and the same items of loops of the same length belong to the same node's threads, else to
    // the same thread, which leave some to others only where these have nothing left.
    std::vector<std::vector<int>> nodes;
    std::string name = "ortolan";
    ThreadHooks hooks;
  };

  // While an object of this class lives, the pool is in use: more work may come soon. The pool must outlive it.
  class Use {
   public:
    explicit Use(ThreadPool& pool) : pool_(pool) { pool_.count_use(1); }
    ~Use() { pool_.count_use(-1); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    ThreadPool& pool_;
  };

  // Throws base::Error where `affinity` cannot be read or does not name one set for each worker.
  explicit ThreadPool(const Options& options);
  // Runs the tasks that are still queued, then joins the workers. A task of the pool may end it, as its last one.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Threads that can be at work on a loop at the same time, the caller included: the pool's, or the process's
  // processors where these are fewer (processor_count.h); 1 means that loops never leave the calling thread.
  int degree() const noexcept { return degree_; }

  // Calls body(begin, end) on ranges that together cover [0, count) once each. Ranges have at least `grain` items (the
  // last may be shorter) and are claimed as threads become free, so which thread runs a range, and in what order, is
  // not fixed. Loops of several callers share the workers and part the processors among them. In the caller alone when
  // count < 2 * grain, degree() is 1, as many callers as there are processors are in loops, or the call comes from
  // inside a body: then in one range, or in several where somebody may ask the run to stop (RunScope::terminate).
  // Throws base::Error between two ranges where that is asked for. The first exception is rethrown here when all
  // threads are done.
  template <class Body>
  void parallel_for(int64_t count, int64_t grain, Body&& body) {
    if (count <= 0) return;
    if (count <= grain) {
      body(int64_t{0}, count);
      return;
    }
    using Plain = std::remove_reference_t<Body>;
    run_loop(count, grain > 0 ? grain : 1,
             {[](void* context, int64_t begin, int64_t end) { (*static_cast<Plain*>(context))(begin, end); },
              const_cast<void*>(static_cast<const void*>(std::addressof(body)))});
  }

  // Runs `task` on a worker later, in no fixed order; with degree 1 on one helper thread. A task may use parallel_for
  // and schedule, but must not wait for another task of the same pool. Where there is no thread to be had, the task has
  // run when this returns, or runs after the task that calls this: hold no lock that a task takes.
  void schedule(Task task);

  // True while the calling thread runs a loop body of any pool, or keeps its loops to itself (loops_alone.h).
  static bool inside_loop() noexcept;

 private:
  struct State;

  void count_use(int change) noexcept;
  void run_loop(int64_t count, int64_t grain, LoopBody body);

  std::unique_ptr<State> state_;
  int threads_;  // the caller among them
  int degree_;
};

// parallel_for where there may be no pool: `pool` may be nullptr.
template <class Body>
void parallel_for(ThreadPool* pool, int64_t count, int64_t grain, Body&& body) {
  if (pool != nullptr) {
    pool->parallel_for(count, grain, std::forward<Body>(body));
  } else if (count > 0) {
    body(int64_t{0}, count);
  }
}

// Reads ORT's affinity text: groups parted by ';', each of processor numbers from 1, parted by ',', or ranges "a-b".
// Returns processor numbers from 0 for each group; throws base::Error where the text is malformed.
std::vector<std::vector<int>> parse_affinity(const std::string& text);

}  // namespace ortolan::base
