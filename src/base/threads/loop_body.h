// What a parallel loop does with its items.
#pragma once

#include <cstdint>

namespace ortolan::base {

/** Called with ranges of items, on any thread; may throw. */
struct LoopBody {
  void (*call)(void* context, int64_t begin, int64_t end) = nullptr;
  void* context = nullptr;
};

}  // namespace ortolan::base
