// The types of elements that loops over numbers are made for.
#pragma once

#include <cstdint>
#include <type_traits>

namespace ortolan::cpu::kernels {

/** bool is a byte that counts as 1 where it is not 0. */
enum class Number : uint8_t { kBool, kU8, kS8, kU16, kS16, kU32, kS32, kU64, kS64, kF32, kF64, kCount };

constexpr int kNumbers = static_cast<int>(Number::kCount);

/** The Number of T; `bool` stands for kBool. */
template <class T>
constexpr Number number_of() {
  if constexpr (std::is_same_v<T, bool>) return Number::kBool;
  if constexpr (std::is_same_v<T, float>) return Number::kF32;
  if constexpr (std::is_same_v<T, double>) return Number::kF64;
  if constexpr (sizeof(T) == 1) return std::is_signed_v<T> ? Number::kS8 : Number::kU8;
  if constexpr (sizeof(T) == 2) return std::is_signed_v<T> ? Number::kS16 : Number::kU16;
  if constexpr (sizeof(T) == 4) return std::is_signed_v<T> ? Number::kS32 : Number::kU32;
  return std::is_signed_v<T> ? Number::kS64 : Number::kU64;
}

}  // namespace ortolan::cpu::kernels
