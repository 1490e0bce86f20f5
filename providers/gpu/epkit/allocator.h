// Allocators as the runtime sees them: addresses of the device are numbers, those of the host are memory.
#pragma once

#include "gpu/epkit/device_context.h"

namespace ortolan::gpu::epkit {

/** On the device where the memory info says so, else on the host. `limit` bytes at one time at most; 0 is no limit. */
class Allocator : public OrtAllocator {
 public:
  /** `info` is the very object that the factory registered. */
  Allocator(const Host& host, DeviceContext& context, const OrtMemoryInfo* info, size_t limit);

 private:
  static void* ORT_API_CALL alloc(OrtAllocator* self, size_t bytes) noexcept;
  static void ORT_API_CALL free(OrtAllocator* self, void* address) noexcept;
  static const OrtMemoryInfo* ORT_API_CALL info(const OrtAllocator* self) noexcept;
  static OrtStatus* ORT_API_CALL get_stats(const OrtAllocator* self, OrtKeyValuePairs** out) noexcept;
  void* take(size_t bytes);
  void give_back(void* address);

  const Host host_;
  DeviceContext& context_;
  const OrtMemoryInfo* info_;
  const bool on_device_;
  const size_t limit_;
  mutable std::mutex mutex_;
  std::map<void*, size_t> sizes_;
  size_t in_use_ = 0, most_ = 0, given_ = 0;
};

}  // namespace ortolan::gpu::epkit
