// What this processor offers: the instruction set level the kernels may use, cache sizes, and how many threads we get.
#pragma once

#include <cstdint>
#include <vector>

namespace ortolan::base {

// Each level includes the ones before it. kAvx2 means AVX2, FMA and F16C; kAvx512 means F, BW, DQ, VL and CD; kAmx
// means tiles of bfloat16 and of bytes, and AVX512_BF16.
enum class IsaLevel : uint8_t { kGeneric, kAvx2, kAvx512, kAvx512Vnni, kAmx };

struct CpuFeatures {
  // What the processor and the operating system allow. Tiles need the system's permission, which holds for the whole
  // process; it is asked for unless ORTOLAN_CPU_ISA names a lower level, and kAmx is detected only where it is granted.
  IsaLevel detected;
  IsaLevel isa;       // `detected`, capped by the environment variable ORTOLAN_CPU_ISA
  int64_t l1d_bytes;  // per core; sane defaults where the system does not say
  int64_t l2_bytes;
  int64_t l3_bytes;  // shared by the package
};

// Read once, at the first call.
const CpuFeatures& cpu_features() noexcept;

// "generic", "avx2", "avx512f", "avx512vnni" or "amx". ORTOLAN_CPU_ISA takes these, and "avx512" for all of AVX-512
// that the processor has.
const char* isa_name(IsaLevel level) noexcept;

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
