// What this processor offers: the instruction set level the kernels may use, cache sizes, and how many threads we get.
#pragma once

#include <cstdint>

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

// Threads that this process should have at work at once: its affinity mask, cut to its cgroup's CPU quota and to the
// environment variable OMP_NUM_THREADS, by which engines tell a task its share of the machine; at least 1. Read once.
int available_threads() noexcept;

// The same of given numbers: `quota` in processors, 0 for none; `asked` as OMP_NUM_THREADS has it, of which the first
// number of a list counts and what is no number above 0 does not; NULL for none.
int thread_limit(int processors, double quota, const char* asked) noexcept;

}  // namespace ortolan::base
