// Spans that end or begin at a page that may not be touched, so that any access outside them is a crash.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace ortolan::cpu::kernels {

enum class Edge { kEnd, kBegin };

/** A copy of `values` whose end (or beginning) lies at the edge of accessible memory. */
template <class T>
class Guarded {
 public:
  Guarded(const std::vector<T>& values, Edge edge) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE)), bytes = values.size() * sizeof(T);
    const size_t inner = (bytes + page - 1) / page * page;
    size_ = inner + 2 * page;
    map_ = static_cast<char*>(mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (map_ == MAP_FAILED) throw std::bad_alloc();
    if (inner != 0) mprotect(map_ + page, inner, PROT_READ | PROT_WRITE);
    char* first = edge == Edge::kEnd ? map_ + page + inner - bytes : map_ + page;
    if (bytes != 0) std::memcpy(first, values.data(), bytes);
    data_ = reinterpret_cast<T*>(first);
  }
  ~Guarded() { munmap(map_, size_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  T* get() const { return data_; }

 private:
  char* map_;
  size_t size_;
  T* data_;
};

}  // namespace ortolan::cpu::kernels
