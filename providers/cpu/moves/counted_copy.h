// Copies of elements that tell the run's budget of strings, which have memory of their own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

#include "base/memory/memory_budget.h"
#include "base/threads/polled_loop.h"

namespace ortolan::cpu {

template <class E>
void put(E& to, const E& from) {
  if constexpr (std::is_same_v<E, std::string>) base::count_string(from.size());
  to = from;
}

/** put_n and put_copies of any length, and of strings. */
template <class E>
[[gnu::noinline]] void put_many(const E* from, int64_t count, E* to) {
  base::polled_loop(count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) put(to[i], from[i]);
  });
}
template <class E>
[[gnu::noinline]] void put_many_copies(E* to, int64_t count, const E& value) {
  base::polled_loop(count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) put(to[i], value);
  });
}

/** Whether that many are copied so fast that nobody needs to look whether to stop. */
template <class E>
bool are_few(int64_t count) {
  return !std::is_same_v<E, std::string> && count <= base::TerminatePoll::kUnits;
}

/** std::copy_n, counted. Throws where the run is asked to stop, as the next one does. */
template <class E>
void put_n(const E* from, int64_t count, E* to) {
  if (!are_few<E>(count)) [[unlikely]]
    return put_many(from, count, to);
  std::copy_n(from, count, to);
}

/** std::fill_n, counted. */
template <class E>
void put_copies(E* to, int64_t count, const E& value) {
  if (!are_few<E>(count)) [[unlikely]]
    return put_many_copies(to, count, value);
  std::fill_n(to, count, value);
}

}  // namespace ortolan::cpu
