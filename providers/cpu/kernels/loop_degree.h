// How many threads a loop that begins here may have. Internal to this folder.
#pragma once

#include "base/thread_pool.h"

namespace ortolan::cpu::kernels {

/** `pool` may be nullptr. */
inline int loop_degree(const base::ThreadPool* pool) {
  return pool == nullptr || base::ThreadPool::inside_loop() ? 1 : pool->degree();
}

}  // namespace ortolan::cpu::kernels
