// The accelerator that this provider pretends to drive: memory out of the host's reach, and queues of work.
//
// A provider for real hardware replaces this file and keeps the others. What it must keep: an address that the runtime
// gets is a number within a reserved range, valid for arithmetic (the runtime hands out addresses inside of blocks) and
// never for access; the device finds the true memory behind it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "counters.h"

namespace ortolan::example {

class Queue;

/** Thread-safe. Outlives its blocks and queues. */
class Device {
 public:
  Device();
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  /** The address of a new block, aligned to 256 bytes; null when there is no room. With a queue, for work there alone:
   *  it may be a block that was freed and that nothing but earlier work of the queue uses. */
  void* allocate(size_t bytes, Queue* queue = nullptr);
  /** Gives the block back when the work that is in the queues now is done. Does not wait for it. Null is accepted. */
  void free(void* address);
  /** Whether an address is of this device; it need not be of a block. */
  bool holds(const void* address) const;
  /** The true memory behind an address, for work on the device only. Throws Failure unless [address, address + bytes)
   *  is within one block. */
  std::byte* memory(const void* address, size_t bytes);
  size_t bytes_in_use();

  /** The queue behind a native handle that came through the runtime; null when it is none of this device's. */
  Queue* find_queue(void* handle);
  /** Carries out all work of all queues. */
  void finish();

 private:
  friend class Queue;
  friend class Buffer;
  struct Block : Counted<Live::kDeviceBlock> {
    explicit Block(size_t bytes) : size(bytes), data(new std::byte[bytes]) {}
    size_t size;
    std::unique_ptr<std::byte[]> data;
  };
  /** A freed block that work up to these numbers of these queues may use. */
  struct Freed {
    uintptr_t address;
    std::map<Queue*, uint64_t> users;
  };
  uintptr_t find_gap(size_t bytes) const;
  void* take_freed(size_t bytes, Queue* queue);
  void reclaim();

  uintptr_t base_;
  std::mutex blocks_lock_;
  std::map<uintptr_t, Block> blocks_;  // by address
  // The device does one thing at a time: whoever carries out work holds this. Work may wait for another queue's work,
  // hence recursive.
  std::recursive_mutex execution_lock_;
  std::set<Queue*> queues_;
  std::list<Freed> freed_;  // guarded by execution_lock_
};

/** Work in order. Nothing happens until somebody flushes or waits, or enough has gathered. Thread-safe. */
class Queue {
 public:
  using Work = std::function<void()>;

  /** `gather` is how many pieces of work are gathered before they start; 0 for any number. */
  Queue(Device& device, const std::atomic<int>& gather);
  /** Carries out what is left. */
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  void enqueue(Work work);
  /** The number of the last piece of work so far, for run_until. */
  uint64_t end();
  /** Carries out the work up to that number. Throws what the work throws; the rest stays in the queue. */
  void run_until(uint64_t number);

 private:
  friend class Device;
  Device& device_;
  const std::atomic<int>& gather_;
  std::deque<Work> work_;
  uint64_t enqueued_ = 0;
  uint64_t done_ = 0;
};

/** A block of device memory that ends with its owner, without waiting: for work that holds it. */
class Buffer {
 public:
  /** Throws Failure when there is no room. */
  Buffer(Device& device, size_t bytes);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  void* address() const { return address_; }

 private:
  Device& device_;
  void* address_;
};

}  // namespace ortolan::example
