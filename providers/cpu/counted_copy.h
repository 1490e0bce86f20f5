// Copies of elements that tell the run's budget of strings, which have memory of their own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

#include "base/memory_budget.h"

namespace ortolan::cpu {

template <class E>
void put(E& to, const E& from) {
  if constexpr (std::is_same_v<E, std::string>) base::count_string(from.size());
  to = from;
}

/** std::copy_n, counted. */
template <class E>
void put_n(const E* from, int64_t count, E* to) {
  if constexpr (std::is_same_v<E, std::string>) {
    for (int64_t i = 0; i < count; ++i) put(to[i], from[i]);
  } else {
    std::copy_n(from, count, to);
  }
}

/** std::fill_n, counted. */
template <class E>
void put_copies(E* to, int64_t count, const E& value) {
  if constexpr (std::is_same_v<E, std::string>) {
    for (int64_t i = 0; i < count; ++i) put(to[i], value);
  } else {
    std::fill_n(to, count, value);
  }
}

}  // namespace ortolan::cpu
