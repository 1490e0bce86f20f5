// Memory for tensors: on the device, and on the host within the device's reach.
#pragma once

#include "counters.h"
#include "device.h"
#include "host.h"

namespace ortolan::example {

/** Blocks of the device come and go in the order of the work in its queues; those of the host are used at once by all
 *  work of this library, so they go at once.
 *  `limit` is how many bytes it gives at most at one time; 0 is no limit. */
class Allocator : public OrtAllocator, private Counted<Live::kAllocator> {
 public:
  Allocator(const Host& host, Device& device, const OrtMemoryInfo* info, size_t limit);

 private:
  static void* ORT_API_CALL alloc(OrtAllocator* self, size_t bytes) noexcept;
  static void ORT_API_CALL free(OrtAllocator* self, void* address) noexcept;
  static const OrtMemoryInfo* ORT_API_CALL info(const OrtAllocator* self) noexcept;
  static OrtStatus* ORT_API_CALL get_stats(const OrtAllocator* self, OrtKeyValuePairs** out) noexcept;
  static void* ORT_API_CALL alloc_on_stream(OrtAllocator* self, size_t bytes, OrtSyncStream* stream) noexcept;
  void* take(size_t bytes, Queue* queue);
  void give_back(void* address);

  const Host host_;
  Device& device_;
  const OrtMemoryInfo* info_;  // the very object that the factory registered
  const bool on_device_;
  const bool for_constants_;
  const size_t limit_;
  mutable std::mutex lock_;
  std::map<void*, size_t> sizes_;
  size_t in_use_ = 0;
  size_t most_ = 0;
  size_t given_ = 0;
};

}  // namespace ortolan::example
