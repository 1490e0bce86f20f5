// The device's memory as the runtime sees it: addresses within a reserved range, valid for arithmetic, never for
// access.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "gpu/device/device.h"

namespace ortolan::gpu::epkit {

/** Thread-safe. Blocks that were freed are used again once no queue has work that may use them. */
class DeviceMemory {
 public:
  explicit DeviceMemory(Device& device);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /** The address of a block, aligned to 256 bytes. Throws kOutOfMemory. */
  void* allocate(size_t bytes);
  /** Queued work may still use the block. NULL is accepted. */
  void free(void* address);
  bool holds(const void* address) const;
  /** The memory behind an address, which may be inside a block. Throws kInvalid unless all of it is in one block. */
  BufferRange range(const void* address, size_t bytes);

  /** A queue has work from now on, or has none left: blocks that were freed become free when all queues are idle. */
  void queue_is_busy(const void* queue);
  void queue_is_idle(const void* queue);
  size_t bytes_in_use() const;

 private:
  struct Block {
    std::unique_ptr<Buffer> buffer;
    size_t bytes;
  };
  using Blocks = std::map<uintptr_t, Block>;
  std::unique_ptr<Buffer> make_buffer(size_t bytes);
  Blocks::iterator place(std::unique_ptr<Buffer> buffer, size_t bytes);
  Blocks::iterator find_free(size_t bytes);
  void drop_free_blocks();

  Device& device_;
  uintptr_t base_;
  mutable std::mutex mutex_;
  Blocks blocks_;                          // all, by address
  std::multimap<size_t, uintptr_t> free_;  // by size
  std::vector<uintptr_t> freed_;           // that queued work may use
  std::set<const void*> busy_;             // queues
  size_t in_use_ = 0;
};

}  // namespace ortolan::gpu::epkit
