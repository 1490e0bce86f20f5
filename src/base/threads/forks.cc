// Counts the forks that this process has come from.
#include "base/threads/forks.h"

#include <pthread.h>

#include <atomic>

namespace ortolan::base {
namespace {

std::atomic<uint32_t> forks_behind{0};

}  // namespace

uint32_t count_forks() noexcept {
  static const int registered = pthread_atfork(nullptr, nullptr, [] { forks_behind.fetch_add(1); });
  (void)registered;
  return forks_behind.load(std::memory_order_relaxed);
}

}  // namespace ortolan::base
