// A pool of two threads that tests share.
#pragma once

#include "base/thread_pool.h"

namespace ortolan::cpu::kernels {

inline base::ThreadPool& two_threads() {
  base::ThreadPool::Options options;
  options.threads = 2;
  static base::ThreadPool* pool = new base::ThreadPool(options);
  return *pool;
}

}  // namespace ortolan::cpu::kernels
