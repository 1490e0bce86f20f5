// Copies of elements that tell the run's budget of strings, which have memory of their own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

#include "base/memory_budget.h"
#include "base/polled_loop.h"

namespace ortolan::cpu {

template <class E>
void put(E& to, const E& from) {
  if constexpr (std::is_same_v<E, std::string>) base::count_string(from.size());
  to = from;
}

/** std::copy_n, counted. Throws where the run is asked to stop, as the next one does. */
template <class E>
void put_n(const E* from, int64_t count, E* to) {
  if (!std::is_same_v<E, std::string> && count <= base::TerminatePoll::kUnits) {
    std::copy_n(from, count, to);
    return;
  }
  base::polled_loop(count, [&](int64_t begin, int64_t end) {
    if constexpr (std::is_same_v<E, std::string>) {
      for (int64_t i = begin; i < end; ++i) put(to[i], from[i]);
    } else {
      std::copy(from + begin, from + end, to + begin);
    }
  });
}

/** std::fill_n, counted. */
template <class E>
void put_copies(E* to, int64_t count, const E& value) {
  if (!std::is_same_v<E, std::string> && count <= base::TerminatePoll::kUnits) {
    std::fill_n(to, count, value);
    return;
  }
  base::polled_loop(count, [&](int64_t begin, int64_t end) {
    if constexpr (std::is_same_v<E, std::string>) {
      for (int64_t i = begin; i < end; ++i) put(to[i], value);
    } else {
      std::fill(to + begin, to + end, value);
    }
  });
}

}  // namespace ortolan::cpu
