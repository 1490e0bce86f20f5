// What a thread pool tells its host of the work that it gives to its threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <vector>

#include "base/threads/work_callbacks.h"

namespace ortolan::base {

/** Pieces of work that the host was told of: the helpers that a loop may get, each for one thread. */
class Announced {
 public:
  void set_callbacks(const WorkCallbacks& callbacks, size_t most_helpers) {
    callbacks_ = callbacks;
    helpers_.reserve(most_helpers);
  }
  bool active() const { return callbacks_.any(); }
  void* announce() const { return callbacks_.enqueue != nullptr ? callbacks_.enqueue(callbacks_.user) : nullptr; }
  void start(void* work) const {
    if (callbacks_.start != nullptr) callbacks_.start(callbacks_.user, work);
  }
  void stop(void* work) const {
    if (callbacks_.stop != nullptr) callbacks_.stop(callbacks_.user, work);
  }

  /** No more than the most that were named. */
  void announce_helpers(size_t count) {
    helpers_.clear();
    for (size_t i = 0; i < count; ++i) helpers_.push_back(announce());
    next_.store(0);
  }
  /** Calls `work` as one of the helpers, unless all are taken. */
  template <class Work>
  void help(Work&& work) {
    size_t mine = next_.fetch_add(1);
    if (mine >= helpers_.size()) return;
    start(helpers_[mine]);
    work();
    stop(helpers_[mine]);
  }
  /** When nobody helps any more. */
  void abandon_others() const {
    for (size_t i = next_.load(); i < helpers_.size(); ++i) {
      if (callbacks_.abandon != nullptr) callbacks_.abandon(callbacks_.user, helpers_[i]);
    }
  }

 private:
  WorkCallbacks callbacks_;
  std::vector<void*> helpers_;
  std::atomic<size_t> next_{0};
};

}  // namespace ortolan::base
