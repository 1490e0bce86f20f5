// Limits the time of runs that may never end.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>

#include "runtime/session/session.h"

namespace ortolan::test {

/** Tells a load and run that take long to stop, and ends the process when they do not; one thread for the process. */
class RunWatch {
 public:
  static RunWatch& instance();
  void begin(runtime::RunOptions* options, std::atomic<bool>* loading);
  void end();

 private:
  RunWatch();
  void look();

  std::mutex mutex_;
  runtime::RunOptions* options_ = nullptr;
  std::atomic<bool>* loading_ = nullptr;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace ortolan::test
