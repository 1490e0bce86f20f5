// Loops and copies that no thread pool parts, in blocks between which the run may be asked to stop.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/threads/run_scope.h"

namespace ortolan::base {

/** Calls body(begin, end) on blocks that cover [0, count) in order; an item is `cost` > 0 units of work. Throws
    base::Error between two blocks where the run of the calling thread is asked to stop. */
template <class Body>
void polled_loop(TerminatePoll& poll, int64_t count, Body&& body, int64_t cost = 1) {
  const int64_t block = std::max<int64_t>(1, TerminatePoll::kUnits / cost);
  for (int64_t begin = 0, end = 0; begin < count; begin = end) {
    end = begin + std::min(block, count - begin);
    poll.work((end - begin) * cost);
    body(begin, end);
  }
}

/** The same for a loop by itself. One that is a block at most is one call, for any count, and looks at nothing. */
template <class Body>
void polled_loop(int64_t count, Body&& body, int64_t cost = 1) {
  const int64_t block = std::max<int64_t>(1, TerminatePoll::kUnits / cost);
  int64_t begin = 0;
  do {  // the body stands here once, so that it is inlined
    if (begin > 0) [[unlikely]]
      check_terminate();
    const int64_t end = begin + std::min(block, count - begin);
    body(begin, end);
    begin = end;
  } while (begin < count);
}

/** Calls sort(before) for a sort of `count` items. In a long one whose run may be asked to stop, comparisons look. */
template <class Before, class Sort>
void polled_sort(int64_t count, Before before, Sort&& sort) {
  if (count <= TerminatePoll::kUnits || run_scope().terminate == nullptr) return sort(before);
  TerminatePoll poll;
  sort([&](const auto& a, const auto& b) {
    poll.work(8);
    return before(a, b);
  });
}

/** Bytes are moved in blocks of so many, each of some milliseconds. */
inline constexpr int64_t kBytesAtOnce = int64_t{16} << 20;
inline constexpr int64_t kBytesPerUnit = kBytesAtOnce / TerminatePoll::kUnits;

/** std::memcpy of any length. */
inline void polled_copy(void* to, const void* from, int64_t bytes) {
  for (; bytes > kBytesAtOnce; bytes -= kBytesAtOnce) {
    check_terminate();
    std::memcpy(to, from, kBytesAtOnce);
    to = static_cast<char*>(to) + kBytesAtOnce;
    from = static_cast<const char*>(from) + kBytesAtOnce;
  }
  if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
}

/** Zeros of any length. */
inline void polled_clear(void* to, int64_t bytes) {
  for (; bytes > kBytesAtOnce; bytes -= kBytesAtOnce) {
    check_terminate();
    std::memset(to, 0, kBytesAtOnce);
    to = static_cast<char*>(to) + kBytesAtOnce;
  }
  if (bytes > 0) std::memset(to, 0, static_cast<size_t>(bytes));
}

}  // namespace ortolan::base
