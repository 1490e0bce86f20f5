// What holds for all work of one run, on whatever thread it is done.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/fp32_precision.h"

namespace ortolan::base {

class MemoryBudget;
class StringTally;

/** Travels from the thread that starts work to the threads that help: loops and tasks of a ThreadPool and lanes of
    SteppedWork take it along. What it points to outlives the run, and nothing but the run. */
struct RunScope {
  Fp32Precision precision = Fp32Precision::kX6;
  bool denormals_are_zero = false;               // going into arithmetic and coming out of it
  const std::atomic<bool>* terminate = nullptr;  // true: the run is to stop; NULL: nobody can ask for it
  MemoryBudget* memory = nullptr;                // what bounds the run's memory; NULL: nothing
  StringTally* strings = nullptr;                // of the node that is computed; NULL: it makes none

  bool operator==(const RunScope&) const = default;
};

/** What holds for the calling thread: the innermost ScopedRunScope, or, in a loop or task of a ThreadPool, what held
    for the thread that started it. */
const RunScope& run_scope() noexcept;

/** `run_scope()` for work that may go on after the run: without what lives only as long as that. */
RunScope lasting_run_scope() noexcept;

/** Whether the run of the calling thread is asked to stop. */
bool terminate_asked() noexcept;
/** The same of another thread's run, whose RunScope::terminate that is. */
bool terminate_asked(const std::atomic<bool>* terminate) noexcept;

/** Throws base::Error where the run of the calling thread is asked to stop. */
void check_terminate();
[[noreturn]] void fail_terminated();

/** How often the calling thread has looked whether to stop. */
uint64_t terminate_looks() noexcept;

/** How exact products of floats have to be on the calling thread. */
inline Fp32Precision fp32_precision() noexcept { return run_scope().precision; }

/** Whether the calling thread's arithmetic takes denormals for zero, whoever has set it so. */
bool denormals_are_zero() noexcept;

/** Whether this architecture's arithmetic can: else it keeps denormals, whatever a scope says. */
bool can_flush_denormals() noexcept;

/** For loops whose length comes from a model or its inputs, and that no thread pool parts: looks whether to stop each
    kUnits of work, which are elements, or anything else that takes some nanoseconds. */
class TerminatePoll {
 public:
  static constexpr int64_t kUnits = int64_t{1} << 18;

  /** `units` more are about to be done. Throws as check_terminate(). */
  void work(int64_t units = 1) {
    if (units < left_) [[likely]] {
      left_ -= units;
      return;
    }
    left_ = kUnits;
    check_terminate();
  }

 private:
  int64_t left_ = kUnits;
};

/** Lets a scope hold on the calling thread, and after that what held before. */
class ScopedRunScope {
 public:
  explicit ScopedRunScope(const RunScope& scope) noexcept;
  ~ScopedRunScope();
  ScopedRunScope(const ScopedRunScope&) = delete;
  ScopedRunScope& operator=(const ScopedRunScope&) = delete;

 private:
  RunScope before_;
  uint64_t flush_bits_before_;  // of the processor's control word, whoever set them
};

}  // namespace ortolan::base
