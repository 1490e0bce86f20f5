// A device simulated on the host: blocks behind addresses that fault, work carried out when somebody waits for it.
#include "device.h"

#include <sys/mman.h>

#include <algorithm>
#include <string>

#include "host.h"

namespace ortolan::example {
namespace {

constexpr size_t kReserved = size_t{16} << 30;  // of addresses; it takes no memory
constexpr size_t kAlignment = 256;

size_t aligned(size_t bytes) { return (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

Counters& counters() {
  static Counters all{};
  return all;
}

Device::Device() {
  void* range = mmap(nullptr, kReserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) fail(ORT_FAIL, "the example device cannot reserve " + std::to_string(kReserved) + " bytes");
  base_ = reinterpret_cast<uintptr_t>(range);
}

Device::~Device() { munmap(reinterpret_cast<void*>(base_), kReserved); }

uintptr_t Device::find_gap(size_t bytes) const {
  uintptr_t start = base_;
  for (const auto& [address, block] : blocks_) {
    if (address - start >= bytes) return start;
    start = address + aligned(block.size);
  }
  return base_ + kReserved - start >= bytes ? start : 0;
}

/** A block of just that size that only work of the queue still uses; null when there is none. */
void* Device::take_freed(size_t bytes, Queue* queue) {
  std::scoped_lock lock(execution_lock_, blocks_lock_);
  for (auto freed = freed_.begin(); freed != freed_.end(); ++freed) {
    uintptr_t address = freed->address;
    bool in_order = freed->users.size() == 1 && freed->users.count(queue) == 1;
    if (!in_order || blocks_.at(address).size != bytes) continue;
    freed_.erase(freed);
    return reinterpret_cast<void*>(address);
  }
  return nullptr;
}

void* Device::allocate(size_t bytes, Queue* queue) {
  if (bytes > kReserved) return nullptr;
  if (void* freed = queue ? take_freed(bytes, queue) : nullptr) return freed;
  std::lock_guard lock(blocks_lock_);
  uintptr_t address = find_gap(aligned(bytes));
  if (address) blocks_.try_emplace(address, bytes);
  return reinterpret_cast<void*>(address);
}

void Device::free(void* address) {
  if (!address) return;
  std::lock_guard lock(execution_lock_);
  Freed freed{reinterpret_cast<uintptr_t>(address), {}};
  for (Queue* queue : queues_) freed.users[queue] = queue->enqueued_;
  freed_.push_back(std::move(freed));
  reclaim();
}

/** Gives back the blocks whose users have all been carried out. */
void Device::reclaim() {
  std::scoped_lock lock(execution_lock_, blocks_lock_);
  freed_.remove_if([&](Freed& freed) {
    for (auto user = freed.users.begin(); user != freed.users.end();) {
      bool gone = queues_.count(user->first) == 0 || user->first->done_ >= user->second;
      user = gone ? freed.users.erase(user) : std::next(user);
    }
    if (freed.users.empty()) blocks_.erase(freed.address);
    return freed.users.empty();
  });
}

bool Device::holds(const void* address) const { return reinterpret_cast<uintptr_t>(address) - base_ < kReserved; }

std::byte* Device::memory(const void* address, size_t bytes) {
  uintptr_t wanted = reinterpret_cast<uintptr_t>(address);
  std::lock_guard lock(blocks_lock_);
  auto after = blocks_.upper_bound(wanted);
  if (after != blocks_.begin()) {
    auto& [start, block] = *std::prev(after);
    if (wanted - start <= block.size && bytes <= block.size - (wanted - start)) return &block.data[wanted - start];
  }
  fail(ORT_FAIL, "the example device has no block with " + std::to_string(bytes) + " bytes at that address");
}

size_t Device::bytes_in_use() {
  std::lock_guard lock(blocks_lock_);
  size_t sum = 0;
  for (const auto& [address, block] : blocks_) sum += block.size;
  return sum;
}

Queue* Device::find_queue(void* handle) {
  std::lock_guard lock(execution_lock_);
  auto found = queues_.find(static_cast<Queue*>(handle));
  return found == queues_.end() ? nullptr : *found;
}

void Device::finish() {
  std::lock_guard lock(execution_lock_);
  for (Queue* queue : queues_) queue->run_until(queue->end());
}

Queue::Queue(Device& device, const std::atomic<int>& gather) : device_(device), gather_(gather) {
  std::lock_guard lock(device_.execution_lock_);
  device_.queues_.insert(this);
}

Queue::~Queue() {
  std::lock_guard lock(device_.execution_lock_);
  while (!work_.empty()) {
    try {
      run_until(enqueued_);
    } catch (const Failure&) {
      // nobody is left to hear of it
    }
  }
  device_.queues_.erase(this);
  device_.reclaim();
}

void Queue::enqueue(Work work) {
  std::lock_guard lock(device_.execution_lock_);
  work_.push_back(std::move(work));
  enqueued_++;
  int gather = gather_;
  if (gather > 0 && work_.size() >= static_cast<size_t>(gather)) run_until(enqueued_);
}

uint64_t Queue::end() {
  std::lock_guard lock(device_.execution_lock_);
  return enqueued_;
}

void Queue::run_until(uint64_t number) {
  std::lock_guard lock(device_.execution_lock_);
  while (done_ < number && !work_.empty()) {
    Work next = std::move(work_.front());
    work_.pop_front();
    done_++;
    next();
  }
  device_.reclaim();
}

Buffer::Buffer(Device& device, size_t bytes) : device_(device), address_(device.allocate(bytes)) {
  if (!address_) fail(ORT_FAIL, "the example device has no room for " + std::to_string(bytes) + " bytes");
}

Buffer::~Buffer() {
  std::lock_guard lock(device_.blocks_lock_);
  device_.blocks_.erase(reinterpret_cast<uintptr_t>(address_));
}

}  // namespace ortolan::example
