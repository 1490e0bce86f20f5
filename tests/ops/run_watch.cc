// Limits the time of runs that may never end.
#include "run_watch.h"

#include <cstdio>
#include <cstdlib>
#include <thread>

namespace ortolan::test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPatience = std::chrono::milliseconds(250);  // then the run is told to stop
constexpr auto kLimit = std::chrono::seconds(30);           // then it counts as one that never ends

}  // namespace

RunWatch& RunWatch::instance() {
  static RunWatch& watch = *new RunWatch;
  return watch;
}

RunWatch::RunWatch() {
  std::thread([this] {
    for (;; std::this_thread::sleep_for(std::chrono::milliseconds(20))) look();
  }).detach();
}

void RunWatch::begin(runtime::RunOptions* options, std::atomic<bool>* loading) {
  std::lock_guard lock(mutex_);
  options_ = options;
  loading_ = loading;
  start_ = Clock::now();
}

void RunWatch::end() {
  std::lock_guard lock(mutex_);
  options_ = nullptr;
  loading_ = nullptr;
}

void RunWatch::look() {
  std::lock_guard lock(mutex_);
  if (options_ == nullptr) return;
  auto taken = Clock::now() - start_;
  if (taken > kPatience) {
    options_->terminate = true;
    *loading_ = true;
  }
  if (taken > kLimit) {
    std::fprintf(stderr, "a run does not end\n");
    std::abort();
  }
}

}  // namespace ortolan::test
