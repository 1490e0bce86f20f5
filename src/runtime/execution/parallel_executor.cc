// Running the steps of a graph at the same time where they do not depend on each other.
#include "runtime/execution/parallel_executor.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>

namespace ortolan::runtime {
namespace {

/** Who waits for whom among the steps, and how often each slot is read. */
struct Dependencies {
  explicit Dependencies(const CompiledGraph& graph)
      : waiting_for(graph.steps().size(), 0), readers(graph.steps().size()), reads(graph.slot_count(), 0) {
    std::vector<int> producer(graph.slot_count(), -1);
    const auto& steps = graph.steps();
    for (size_t i = 0; i < steps.size(); ++i) {
      for (const auto* slots : {&steps[i].inputs, &steps[i].captured}) {
        for (int slot : *slots) add_read(slot, static_cast<int>(i), producer);
      }
      for (int slot : steps[i].outputs) {
        if (slot >= 0) producer[slot] = static_cast<int>(i);
      }
    }
    for (const auto& [slot, value] : graph.constants()) reads[slot] = 0;
    for (int slot : graph.output_slots()) reads[slot] = 0;
  }

  void add_read(int slot, int step, const std::vector<int>& producer) {
    if (slot < 0) return;
    ++reads[slot];
    if (producer[slot] < 0) return;
    readers[producer[slot]].push_back(step);
    ++waiting_for[step];
  }

  std::vector<int> waiting_for;           // steps not yet done that a step needs
  std::vector<std::vector<int>> readers;  // steps that need a step
  std::vector<int> reads;                 // 0: the slot is kept until the end
};

/** One run; shared by the caller and the tasks, so that a task that starts late still finds it. */
class ParallelRun : public std::enable_shared_from_this<ParallelRun> {
 public:
  ParallelRun(Frame& frame, ThreadPool& threads)
      : frame_(frame), threads_(threads), dependencies_(frame.graph()), left_(frame.contexts().size()) {
    ready_.reserve(left_);
    for (size_t i = 0; i < dependencies_.waiting_for.size(); ++i) {
      if (dependencies_.waiting_for[i] == 0) ready_.push_back(static_cast<int>(i));
    }
  }

  void run() {
    call_helpers(ready_.size());
    std::unique_lock lock(mutex_);
    while (left_ > 0) {
      if (has_ready()) {
        run_next(lock);
      } else {
        changed_.wait(lock);
      }
    }
    if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  /** Called without the lock: where there is no other thread, a helper runs within schedule(). */
  void call_helpers(size_t ready) noexcept {
    try {
      for (size_t i = 1; i < ready; ++i) {
        threads_.schedule([self = shared_from_this()] { self->help(); });
      }
    } catch (const std::bad_alloc&) {
      // Those that are there do all the work.
    }
  }

  void help() {
    std::unique_lock lock(mutex_);
    while (has_ready()) run_next(lock);
  }

  bool has_ready() const { return next_ < ready_.size(); }

  /** Takes a ready step and runs it unlocked. */
  void run_next(std::unique_lock<std::mutex>& lock) {
    const int step = ready_[next_++];
    const bool failed = error_ != nullptr;
    lock.unlock();
    std::exception_ptr error = failed ? nullptr : run_step(step);
    lock.lock();
    if (error != nullptr && error_ == nullptr) error_ = std::move(error);  // which is the caller's alone from here on
    const size_t ready = finish(step);
    lock.unlock();
    changed_.notify_all();
    call_helpers(ready);
    lock.lock();
  }

  std::exception_ptr run_step(int step) {
    StepContext& context = frame_.contexts()[step];
    ScratchArea scratch;
    context.set_scratch(&scratch);
    std::exception_ptr error;
    try {
      frame_.graph().run_step(context);
    } catch (...) {
      error = std::current_exception();
    }
    context.set_scratch(&frame_.scratch());
    return error;
  }

  /** Returns how many steps have become ready by that. */
  size_t finish(int step) {
    const Step& done = frame_.graph().steps()[step];
    for (const auto* slots : {&done.inputs, &done.captured}) {
      for (int slot : *slots) {
        if (slot < 0 || dependencies_.reads[slot] == 0 || --dependencies_.reads[slot] > 0) continue;
        frame_.slots()[slot] = Value();
        if (frame_.holds_lists()) frame_.uncharge_lists(std::span(&slot, 1));
      }
    }
    size_t ready = 0;
    for (int reader : dependencies_.readers[step]) {
      if (--dependencies_.waiting_for[reader] > 0) continue;
      ready_.push_back(reader);
      ++ready;
    }
    --left_;
    return ready;
  }

  Frame& frame_;
  ThreadPool& threads_;
  Dependencies dependencies_;
  size_t left_;
  std::vector<int> ready_;  // in the order in which they are taken; none comes twice
  size_t next_ = 0;         // the first that nobody has taken
  std::exception_ptr error_;
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace

void run_in_parallel(Frame& frame, ThreadPool& threads) { std::make_shared<ParallelRun>(frame, threads)->run(); }

}  // namespace ortolan::runtime
