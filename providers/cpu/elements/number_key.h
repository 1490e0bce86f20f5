// Numbers of any type as whole numbers, so that tables of them and sorts are compiled once.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace ortolan::cpu {

/** Equal for equal numbers of the type alone, and less for lesser ones: both zeros are one number, and so are all NaN,
    which come last. */
template <class T>
uint64_t number_key(T value) {
  constexpr uint64_t kSign = uint64_t{1} << 63;
  static_assert(std::is_arithmetic_v<T>);
  if constexpr (std::is_floating_point_v<T>) {
    if (value != value) return ~uint64_t{0};
    const auto bits = std::bit_cast<uint64_t>(static_cast<double>(value) + 0.0);  // -0 + 0 is 0
    return (bits & kSign) != 0 ? ~bits : bits | kSign;
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<uint64_t>(static_cast<int64_t>(value)) ^ kSign;
  } else {
    return static_cast<uint64_t>(value);
  }
}

}  // namespace ortolan::cpu
