// Thread pools that tests share.
#pragma once

#include <map>

#include "base/threads/thread_pool.h"

namespace ortolan::cpu::kernels {

/** More threads than one: results must not depend on how many. */
constexpr int kThreadCounts[] = {2, 3, 4, 16, 64};

inline base::ThreadPool& pool_of(int threads) {
  static auto* pools = new std::map<int, base::ThreadPool>;
  base::ThreadPool::Options options;
  options.threads = threads;
  return pools->try_emplace(threads, options).first->second;
}

inline base::ThreadPool& two_threads() { return pool_of(2); }

}  // namespace ortolan::cpu::kernels
