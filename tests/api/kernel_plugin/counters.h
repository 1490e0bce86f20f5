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
  std::atomic<int> concatenated{0};  // calls of ConcatOutput
  std::atomic<int> transposed{0};    // calls of Transpose
  std::atomic<int> misplaced{0};     // values in the wrong memory, and answers that were wrong
};
