// The levels of aarch64, by what the system says of the processor.
#include <sys/auxv.h>

#include "base/isa/isa_level.h"

namespace ortolan::base {
namespace {

constexpr NamedIsaLevel kLevels[] = {
    {IsaLevel::kGeneric, "neon"},
    {IsaLevel::kDotprod, "dotprod"},
    {IsaLevel::kI8mm, "i8mm"},
    {IsaLevel::kSme, "sme"},
};

// Of AT_HWCAP and AT_HWCAP2; headers of older systems lack the later ones.
constexpr unsigned long kHasDotprod = 1ul << 20;
constexpr unsigned long kHasI8mm = 1ul << 13, kHasBfloat16 = 1ul << 14, kHasSme = 1ul << 23;

// Of what may be two vectors wide, a kernel takes 64 floats at most; vectors are a power of two long, from 16 bytes on.
constexpr int kLongestStreamingBytes = 128;

}  // namespace

std::span<const NamedIsaLevel> isa_levels() noexcept { return kLevels; }

bool has_isa(IsaLevel level, IsaLevel detected) noexcept { return level <= detected; }

int streaming_bytes(IsaLevel detected) noexcept {
  if (detected < IsaLevel::kSme) return 0;
  int64_t bytes;
  asm(".arch_extension sme\n\trdsvl %0, #1" : "=r"(bytes));
  return static_cast<int>(bytes);
}

IsaLevel detect_isa(IsaLevel) noexcept {
  if ((getauxval(AT_HWCAP) & kHasDotprod) == 0) return IsaLevel::kGeneric;
  constexpr unsigned long kNeeded = kHasI8mm | kHasBfloat16;
  const unsigned long has = getauxval(AT_HWCAP2);
  if ((has & kNeeded) != kNeeded) return IsaLevel::kDotprod;
  const bool streams = (has & kHasSme) != 0 && streaming_bytes(IsaLevel::kSme) <= kLongestStreamingBytes;
  return streams ? IsaLevel::kSme : IsaLevel::kI8mm;
}

}  // namespace ortolan::base
