// What the parts of the plugin share: the runtime's functions, the counters, the memory, and values in it.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "counters.h"
#include "onnxruntime_c_api.h"

namespace kernel_plugin {

extern const OrtApi* api;  // these are set when factories are asked for
extern const OrtEpApi* ep_api;
extern KernelCounters counters;
inline constexpr const char* kName = "KernelTestProvider";

#define TRY(call)                                  \
  do {                                             \
    if (OrtStatus* failed = (call)) return failed; \
  } while (false)

/** Addresses within a range that nobody may touch; each stands for one of `memory`. */
class Device {
 public:
  Device() {
    base_ = static_cast<char*>(mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    memory_ = static_cast<char*>(
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  }
  void* allocate(size_t bytes) {
    std::lock_guard lock(mutex_);
    bytes = (bytes + 255) / 256 * 256;
    if (next_ + bytes > kBytes) return nullptr;
    char* block = base_ + next_;
    next_ += bytes;
    return block;
  }
  bool holds(const void* address) const { return address >= base_ && address < base_ + kBytes; }
  void* memory(const void* address) const {
    if (!holds(address)) std::abort();
    return memory_ + (static_cast<const char*>(address) - base_);
  }
  /** What the CPU may touch for an address of either kind. */
  void* reach(const void* address) const { return holds(address) ? memory(address) : const_cast<void*>(address); }

 private:
  static constexpr size_t kBytes = size_t{1} << 30;
  char* base_;
  char* memory_;
  size_t next_ = 0;
  std::mutex mutex_;
};
Device& device();

struct View {
  std::vector<int64_t> shape;
  void* data = nullptr;
  size_t bytes = 0;
};

OrtStatus* view_of(const OrtValue* value, View* view);

}  // namespace kernel_plugin
