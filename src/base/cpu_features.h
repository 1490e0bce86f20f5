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

// Threads that can really run at once: the process's affinity mask, cut to its cgroup's CPU quota; at least 1.
int available_threads() noexcept;

}  // namespace ortolan::base
