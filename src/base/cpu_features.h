// What this processor offers: the instruction set level the kernels may use, cache sizes, and how many threads we get.
#pragma once

#include <cstdint>
#include <vector>

#include "base/isa/isa_level.h"

namespace ortolan::base {

struct CpuFeatures {
  // What the processor and the operating system allow (detect_isa): kAmx only where the system grants tiles, which it
  // is asked for unless ORTOLAN_CPU_ISA names a lower level.
  IsaLevel detected;
  IsaLevel isa;         // `detected`, capped by the environment variable ORTOLAN_CPU_ISA
  int streaming_bytes;  // of the vectors of outer products, where `detected` includes them; else 0
  int64_t l1d_bytes;    // per core; sane defaults where the system does not say
  int64_t l2_bytes;
  int64_t l3_bytes;  // shared by the package
};

// Read once, at the first call.
const CpuFeatures& cpu_features() noexcept;

// Threads that this process should have at work at once: the cores of its affinity mask, whose processors share the
// units that compute, cut to its cgroup's CPU quota; or what the environment variable OMP_NUM_THREADS says, by which
// engines tell a task its share of the machine, up to the mask's processors and the quota. At least 1. Read once.
int available_threads() noexcept;

// What a process may use of a machine.
struct ProcessorShare {
  int processors = 1;
  int cores = 1;     // to which they belong
  double quota = 0;  // in processors; 0: none
};

// The same of given numbers: `asked` as OMP_NUM_THREADS has it, of which the first number of a list counts and what is
// no number above 0 does not; NULL for none.
int thread_limit(const ProcessorShare& share, const char* asked) noexcept;

// How many cores are named, each once or more.
int count_cores(std::vector<int> cores) noexcept;

}  // namespace ortolan::base
