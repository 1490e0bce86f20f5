// Options of the pools in tests.
#pragma once

#include "base/threads/thread_pool.h"

namespace ortolan::base {

inline ThreadPool::Options threads(int count) {
  ThreadPool::Options options;
  options.threads = count;
  return options;
}

}  // namespace ortolan::base
