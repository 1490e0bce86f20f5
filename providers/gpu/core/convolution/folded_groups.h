// Launches of more groups than a device has along an axis.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace ortolan::gpu {

/** `groups` where the axes have room for them; else a shape that has, of at least as many in all: the first ones in
 * order, x fastest, are meant. All of `most` at least 1. */
inline std::array<uint32_t, 3> folded_groups(std::array<uint32_t, 3> groups, std::array<uint32_t, 3> most) {
  if (groups[0] <= most[0] && groups[1] <= most[1] && groups[2] <= most[2]) return groups;
  auto shares = [](uint64_t a, uint64_t b) { return (a + b - 1) / b; };
  uint64_t total = uint64_t{groups[0]} * groups[1] * groups[2];
  uint64_t z = shares(total, uint64_t{most[0]} * most[1]), y = shares(total, z * most[0]), x = shares(total, z * y);
  return {static_cast<uint32_t>(x), static_cast<uint32_t>(y), static_cast<uint32_t>(z)};
}

}  // namespace ortolan::gpu
