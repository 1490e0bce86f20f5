// Vectors so large that filling them takes time.
#pragma once

#include <vector>

#include "base/threads/polled_loop.h"

namespace ortolan::base {

/** A vector of `count` times `value`. Throws as polled_loop(). */
template <class T>
std::vector<T> polled_vector(int64_t count, const T& value = T{}) {
  std::vector<T> result;
  result.reserve(static_cast<size_t>(count));
  polled_loop(count, [&](int64_t, int64_t end) { result.resize(static_cast<size_t>(end), value); });
  return result;
}

}  // namespace ortolan::base
