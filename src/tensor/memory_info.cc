// The process's list of memory infos, so that tensors can point at one that never dies.
#include <algorithm>
#include <deque>
#include <mutex>

#include "tensor/allocator.h"

namespace ortolan::tensor {

const MemoryInfo& interned(const MemoryInfo& info) {
  static auto* mutex = new std::mutex;
  static auto* known = new std::deque<MemoryInfo>;
  std::lock_guard lock(*mutex);
  auto found = std::find(known->begin(), known->end(), info);
  return found != known->end() ? *found : known->emplace_back(info);
}

}  // namespace ortolan::tensor
