// The levels of x86_64, by cpuid, the states that the system saves, and its grant of tiles.
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <initializer_list>

#include "base/isa/isa_level.h"

// Defined by the tests' emulator of tile instructions (tests/amx_emulator), which any processor with AVX-512 can run.
extern "C" __attribute__((weak, visibility("default"))) bool ortolan_emulates_tiles() noexcept;

namespace ortolan::base {
namespace {

constexpr NamedIsaLevel kLevels[] = {
    {IsaLevel::kGeneric, "generic"},       {IsaLevel::kAvx2, "avx2"},
    {IsaLevel::kAvxVnni, "avxvnni"},       {IsaLevel::kAvx512, "avx512f"},
    {IsaLevel::kAvx512Vnni, "avx512vnni"}, {IsaLevel::kAmx, "amx"},
};

uint64_t enabled_states() {
  uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t{high} << 32) | low;
}

bool has_all(uint32_t word, std::initializer_list<int> bits) {
  return std::all_of(bits.begin(), bits.end(), [word](int bit) { return (word >> bit) & 1; });
}

bool has_avx_vnni() {
  uint32_t a, b, c, d;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) && has_all(a, {4});
}

bool tiles_granted() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

bool tiles_usable(uint64_t states) {
  uint32_t a, b, c, d;
  if (!__get_cpuid_count(7, 1, &a, &b, &c, &d) || !has_all(a, {5})) return false;  // AVX512_BF16
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  const bool exist = (states & 0x60000) == 0x60000 && has_all(d, {22, 24, 25});  // bfloat16, tiles, bytes
  return exist ? tiles_granted() : ortolan_emulates_tiles != nullptr && ortolan_emulates_tiles();
}

}  // namespace

std::span<const NamedIsaLevel> isa_levels() noexcept { return kLevels; }

bool has_isa(IsaLevel level, IsaLevel detected) noexcept {
  return level <= detected && (level != IsaLevel::kAvxVnni || has_avx_vnni());
}

IsaLevel detect_isa(IsaLevel wanted) noexcept {
  uint32_t a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !has_all(c, {12, 27, 28, 29}))
    return IsaLevel::kGeneric;  // FMA, OSXSAVE, AVX, F16C
  const uint64_t states = enabled_states();
  if ((states & 0x6) != 0x6) return IsaLevel::kGeneric;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !has_all(b, {5})) return IsaLevel::kGeneric;
  const bool wide = (states & 0xe6) == 0xe6 && has_all(b, {16, 17, 28, 30, 31});
  if (!wide) return has_avx_vnni() ? IsaLevel::kAvxVnni : IsaLevel::kAvx2;
  if (!has_all(c, {11})) return IsaLevel::kAvx512;
  return wanted >= IsaLevel::kAmx && tiles_usable(states) ? IsaLevel::kAmx : IsaLevel::kAvx512Vnni;
}

int streaming_bytes(IsaLevel) noexcept { return 0; }

}  // namespace ortolan::base
