// The device's memory as the runtime sees it: addresses within a reserved range, valid for arithmetic, never for
// access; on a device that others use too, its driver's addresses.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>

#include "gpu/device/shared_device.h"

namespace ortolan::gpu::epkit {

/** Thread-safe. A block that was freed is used again once each queue that had work then was idle. */
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
  /** The address of imported memory, which others write too, so that nothing of it is remembered. */
  void* adopt(std::unique_ptr<Buffer> imported);
  /** Ends such memory. */
  void let_go(void* address);
  /** Also memory of others, where they use the device too. Throws where it is lost. */
  bool holds(const void* address) const;
  /** The memory behind an address, which may be inside a block. Throws kInvalid unless all of it is in one block, or
   * the address is that of memory of others. */
  BufferRange range(const void* address, size_t bytes);
  /** The same for memory that work in a queue will write. */
  BufferRange range_to_write(const void* address, size_t bytes);
  /** Says that queued work brings those bytes of the host to an address. Few bytes are remembered. */
  void remember(const void* address, const void* from, size_t bytes);
  /** What queued work leaves in that memory, where it was remembered and nothing else was to write there since; else
   *  nothing. */
  std::vector<std::byte> remembered(const void* address, size_t bytes);

  /** A queue has work from now on, or has none left. */
  void queue_is_busy(const void* queue);
  void queue_is_idle(const void* queue);
  size_t bytes_in_use() const;

 private:
  struct Block {
    std::unique_ptr<Buffer> buffer;
    size_t bytes;
    std::map<size_t, std::vector<std::byte>> remembered;  // by offset
    bool is_shared = false;                               // others write it too
    void forget(size_t offset, size_t bytes);
  };
  struct Freed {
    uintptr_t address;
    uint64_t time;
  };
  using Blocks = std::map<uintptr_t, Block>;
  std::unique_ptr<Buffer> make_buffer(size_t bytes);
  uintptr_t gap_for(size_t bytes) const;
  bool is_in_block(const void* address) const;
  /** The block that has those bytes, and their offset in it; NULL and the address where others have them. Throws
   * kInvalid where nobody has. */
  std::pair<Block*, size_t> find(const void* address, size_t bytes);
  Blocks::iterator place(std::unique_ptr<Buffer> buffer, size_t bytes);
  Blocks::iterator find_free(size_t bytes);
  void drop_free_blocks();
  void reuse_freed_blocks();

  Device& device_;
  SharedDevice* const shared_;  // NULL: only we use the device
  uintptr_t base_ = 0;          // of the reserved range, which a shared device does not need
  mutable std::mutex mutex_;
  Blocks blocks_;                          // all, by address
  std::multimap<size_t, uintptr_t> free_;  // by size
  std::deque<Freed> freed_;                // that queued work may use, the earliest first
  std::map<const void*, uint64_t> busy_;   // queues with the time at which each was idle last
  uint64_t time_ = 0;                      // grows with each queue that becomes busy
  size_t in_use_ = 0;
};

}  // namespace ortolan::gpu::epkit
