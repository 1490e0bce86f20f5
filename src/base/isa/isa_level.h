// The levels of instruction sets of the architecture that the library is compiled for, and what this processor has.
#pragma once

#include <cstdint>
#include <span>

namespace ortolan::base {

/** Each level includes the ones before it, but for kAvxVnni. kGeneric is what every processor of the architecture has.
 */
enum class IsaLevel : uint8_t {
  kGeneric,  // x86_64: SSE2; aarch64: NEON
#if defined(__x86_64__)
  kAvx2,        // and FMA, F16C
  kAvxVnni,     // sums of four products of bytes without AVX-512, which processors that have that may lack
  kAvx512,      // F, BW, DQ, VL and CD
  kAvx512Vnni,  // and VNNI
  kAmx,         // tiles of bfloat16 and of bytes, and AVX512_BF16
#elif defined(__aarch64__)
  kDotprod,  // sums of four products of bytes (SDOT, UDOT)
  kI8mm,     // products of 2x8 by 8x2 bytes, and of bfloat16 likewise (I8MM and BF16)
  kSme,      // outer products of streaming vectors (SME)
#endif
};

struct NamedIsaLevel {
  IsaLevel level;
  const char* name;
};

/** All levels, lowest first, with their names in reports and in ORTOLAN_CPU_ISA. */
std::span<const NamedIsaLevel> isa_levels() noexcept;

const char* isa_name(IsaLevel level) noexcept;

/** The level that a value of ORTOLAN_CPU_ISA allows: the one of that name, where "generic" is the lowest of every
    architecture and "avx512" the highest of x86_64 without tiles; the highest of all where it is nullptr or names none.
 */
IsaLevel named_isa(const char* name) noexcept;

/** Whether a processor whose highest level is `detected` has that one. */
bool has_isa(IsaLevel level, IsaLevel detected) noexcept;

/** Bytes of the calling thread's streaming vectors (SVL of aarch64), which `detected` includes; else 0. */
int streaming_bytes(IsaLevel detected) noexcept;

/** The highest level that the processor and the operating system allow. What needs the system's permission, which holds
    for the whole process, is asked for only where `wanted` includes it. */
IsaLevel detect_isa(IsaLevel wanted) noexcept;

}  // namespace ortolan::base
