// What the test plugin counts.
#pragma once

#include <atomic>

/** The key of the metadata with the address of the counters, in decimal. */
inline constexpr const char* kKernelCountersKey = "kernel_counters";

struct KernelCounters {
  std::atomic<int> kernels{0};       // of Add and Mul, alive
  std::atomic<int> helpers{0};       // of Loop and Scan, alive
  std::atomic<int> computed{0};      // calls of Add and Mul
  std::atomic<int> packed{0};        // weights
  std::atomic<int> copied{0};        // outputs that were to be aliases
  std::atomic<int> shared{0};        // packed weights that came from a cache
  std::atomic<int> shared_again{0};  // those that were the same memory as the one before
  std::atomic<const void*> last_shared{nullptr};
  std::atomic<int> concatenated{0};  // calls of ConcatOutput
  std::atomic<int> transposed{0};    // calls of Transpose
  std::atomic<int> profilers{0};     // alive
  std::atomic<int> events_begun{0};
  std::atomic<int> events_ended{0};
  std::atomic<int> misplaced{0};  // values in the wrong memory, and answers that were wrong
};
