// ThreadPool: loops, which go in pieces where somebody may ask for their end.
#include "base/threads/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <exception>

#include "base/cpu_features.h"
#include "base/error.h"
#include "base/threads/counted_in.h"
#include "base/threads/loop_division.h"
#include "base/threads/memory_nodes.h"
#include "base/threads/piece_length.h"
#include "base/threads/processor_count.h"
#include "base/threads/run_scope.h"
#include "base/threads/thread_pool_state.h"
#include "base/threads/work_callbacks.h"

namespace ortolan::base {
namespace {

constinit thread_local const WorkCallbacks* t_work_callbacks = nullptr;  // of pools that are made here

/** A loop that nobody helps with: in one piece, unless somebody may ask the run to stop. */
void run_alone(int64_t count, int64_t grain, LoopBody body) {
  if (run_scope().terminate == nullptr) return body.call(body.context, 0, count);
  PieceLength<> length(grain, count);
  for (int64_t begin = 0, end = 0; begin < count; begin = end) {
    check_terminate();
    end = begin + std::min(length.next(), count - begin);
    body.call(body.context, begin, end);
  }
}

}  // namespace

int ThreadPool::State::take_place() noexcept {
  for (int place = 0; place < kLoops; ++place) {
    if (loops[place].take()) return place;
  }
  return -1;
}

void ThreadPool::State::set_callbacks(const WorkCallbacks& callbacks, size_t most_helpers) {
  announced.set_callbacks(callbacks, 0);
  for (PooledLoop& loop : loops) loop.set_callbacks(callbacks, most_helpers);
}

void ThreadPool::State::let_in(int place, int helpers) noexcept {
  caller_processor.store(sched_getcpu(), std::memory_order_relaxed);
  open.fetch_or(uint32_t{1} << place);
  call_helpers(helpers);
}

void ThreadPool::State::follow_nodes(int threads) {
  const auto& nodes = options.nodes;
  const int count = static_cast<int>(nodes.size()), parts = std::min(count, PooledLoop::kMostParts);
  auto part_of = [&](int node) { return node * parts / count; };
  std::vector<int> threads_of_parts(parts);
  for (const int node : nodes_of_threads(nodes, threads)) {
    if (!parts_of_threads.empty()) affinity.push_back(nodes[node]);
    parts_of_threads.push_back(part_of(node));
    ++threads_of_parts[part_of(node)];
  }
  for (int node = 0; node < count; ++node) {
    for (const size_t processor : nodes[node]) {
      if (processor >= parts_of_processors.size()) parts_of_processors.resize(processor + 1);
      parts_of_processors[processor] = part_of(node);
    }
  }
  for (PooledLoop& loop : loops) loop.set_parts(threads_of_parts);
}

void ThreadPool::State::follow_threads(int threads) {
  const int parts = std::min(threads, PooledLoop::kMostParts);
  std::vector<int> threads_of_parts(parts);
  for (int thread = 0; thread < threads; ++thread) {
    parts_of_threads.push_back(static_cast<int>(int64_t{thread} * parts / threads));
    ++threads_of_parts[parts_of_threads.back()];
  }
  for (PooledLoop& loop : loops) loop.set_parts(threads_of_parts);
}

int ThreadPool::State::part_here() const noexcept {
  if (parts_of_processors.empty()) return 0;
  const int processor = sched_getcpu();
  const bool is_known = processor >= 0 && processor < static_cast<int>(parts_of_processors.size());
  return is_known ? parts_of_processors[processor] : 0;
}

ThreadPool::ThreadPool(const Options& options) : state_(std::make_unique<State>()) {
  threads_ = options.threads > 0 ? options.threads : available_threads();
  degree_ = std::min(threads_, processors_at_once());
  state_->options = options;
  if (t_work_callbacks != nullptr) state_->set_callbacks(*t_work_callbacks, static_cast<size_t>(threads_));
  require(options.hooks.create == nullptr || options.hooks.join != nullptr, ErrorCode::kInvalidArgument,
          "the host makes the threads of a pool, but gives no function that joins them; set both");
  state_->affinity = parse_affinity(options.affinity);
  const int groups = static_cast<int>(state_->affinity.size());
  require(groups == 0 || groups == threads_ - 1, ErrorCode::kInvalidArgument, "thread affinity '", options.affinity,
          "' names ", groups, " groups for a pool of ", threads_, " threads; give one group for each of the ",
          threads_ - 1, " worker threads (the calling thread is not pinned)");
  groups == 0 && options.nodes.size() > 1 ? state_->follow_nodes(threads_) : state_->follow_threads(threads_);
}

void ThreadPool::count_use(int change) noexcept {
  if (state_->options.spin_only_in_use) state_->uses.fetch_add(change, std::memory_order_relaxed);
}

bool ThreadPool::inside_loop() noexcept { return inside_pooled_loop(); }

ScopedWorkCallbacks::ScopedWorkCallbacks(const WorkCallbacks& callbacks)
    : before_(std::exchange(t_work_callbacks, &callbacks)) {}

ScopedWorkCallbacks::~ScopedWorkCallbacks() { t_work_callbacks = before_; }

void ThreadPool::run_loop(int64_t count, int64_t grain, LoopBody body) {
  State& state = *state_;
  if (degree_ == 1 || inside_loop() || state.orphaned()) return run_alone(count, grain, body);
  if (!state.started.load(std::memory_order_acquire)) state.start(threads_ - 1);
  const CountedIn caller(state.callers);
  const auto [chunk, helpers] = division_of(count, grain, degree_, processors_at_once() / caller.count());
  const int place = helpers > 0 ? state.take_place() : -1;
  if (place < 0) return run_alone(count, grain, body);
  PooledLoop& loop = state.loops[place];
  loop.open(count, grain, chunk, body, helpers);
  state.let_in(place, helpers);
  loop.work_as_caller(state.part_here());
  state.shut_out(place);
  const std::exception_ptr failure = loop.close();
  loop.give_back();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace ortolan::base
