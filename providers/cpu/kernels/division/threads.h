// How many threads a loop of the calling thread can have.
#pragma once

#include "base/threads/thread_pool.h"

namespace ortolan::cpu::kernels {

/** 1 where there is no pool, and in a loop's body, whose own loops stay on its thread. */
inline int threads_of(const base::ThreadPool* pool) {
  return pool == nullptr || base::ThreadPool::inside_loop() ? 1 : pool->degree();
}

}  // namespace ortolan::cpu::kernels
