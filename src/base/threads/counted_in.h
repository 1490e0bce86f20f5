// Counting what goes on at the same time.
#pragma once

#include <atomic>

namespace ortolan::base {

/** One more, as long as it lives. */
class CountedIn {
 public:
  explicit CountedIn(std::atomic<int>& counter) : counter_(counter), count_(counter.fetch_add(1) + 1) {}
  ~CountedIn() { counter_.fetch_sub(1); }
  CountedIn(const CountedIn&) = delete;
  CountedIn& operator=(const CountedIn&) = delete;
  /** With this one, when it came. */
  int count() const { return count_; }

 private:
  std::atomic<int>& counter_;
  const int count_;
};

}  // namespace ortolan::base
