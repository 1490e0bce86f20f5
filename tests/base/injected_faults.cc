// operator new, madvise and sysconf of the test program, which stand before those of the system.
#include "injected_faults.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

thread_local int t_works = -1;  // allocations until one fails; -1: none will
thread_local bool t_has_failed = false;
size_t page_bytes = 0;  // 0: the machine's

bool fails_now() {
  if (t_works < 0 || t_works-- > 0) return false;
  t_has_failed = true;
  return true;
}

}  // namespace

void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return fails_now() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
}
void* operator new(size_t bytes) {
  void* block = operator new(bytes, std::nothrow);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, size_t) noexcept { std::free(block); }

extern "C" int madvise(void* address, size_t bytes, int advice) noexcept {
  if (page_bytes != 0 && advice == MADV_DONTNEED) {
    if (reinterpret_cast<uintptr_t>(address) % page_bytes != 0) {
      errno = EINVAL;
      return -1;
    }
    bytes = (bytes + page_bytes - 1) / page_bytes * page_bytes;
  }
  return static_cast<int>(syscall(SYS_madvise, address, bytes, advice));
}

extern "C" long sysconf(int name) noexcept {
  static auto* const systems = reinterpret_cast<long (*)(int)>(dlsym(RTLD_NEXT, "sysconf"));
  return name == _SC_PAGESIZE && page_bytes != 0 ? static_cast<long>(page_bytes) : systems(name);
}

namespace ortolan::base {

FailingAllocation::FailingAllocation(int works) {
  t_has_failed = false;
  t_works = works;
}
FailingAllocation::~FailingAllocation() { t_works = -1; }
bool FailingAllocation::has_failed() const { return t_has_failed; }

LargerPages::LargerPages(size_t bytes) { page_bytes = bytes; }
LargerPages::~LargerPages() { page_bytes = 0; }

}  // namespace ortolan::base
