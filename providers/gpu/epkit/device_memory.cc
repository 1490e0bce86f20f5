// Addresses by block, and blocks used again.
#include "gpu/epkit/device_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <string>

namespace ortolan::gpu::epkit {
namespace {

constexpr size_t kRangeBytes = size_t{1} << 40;  // of addresses, not of memory
constexpr size_t kAlignment = 256;
constexpr size_t kMostRemembered = 256;  // bytes of a tensor: shapes, lengths, axes

size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/** Sizes are rounded so that blocks fit more than one request: to an eighth of the next power of two. */
size_t rounded(size_t bytes) {
  size_t step = kAlignment;
  while (step * 8 < bytes) step *= 2;
  return (std::max<size_t>(bytes, 1) + step - 1) / step * step;
}

}  // namespace

DeviceMemory::DeviceMemory(Device& device) : device_(device), shared_(dynamic_cast<SharedDevice*>(&device)) {
  if (shared_ != nullptr) return;
  void* range = mmap(nullptr, kRangeBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) throw Error(ErrorKind::kInternal, "no range of addresses is free for device memory");
  base_ = reinterpret_cast<uintptr_t>(range);
}

DeviceMemory::~DeviceMemory() {
  if (shared_ == nullptr) munmap(reinterpret_cast<void*>(base_), kRangeBytes);
}

void* DeviceMemory::allocate(size_t bytes) {
  std::lock_guard lock(mutex_);
  size_t size = rounded(bytes);
  auto block = find_free(size);
  if (block == blocks_.end()) block = place(make_buffer(size), size);
  in_use_ += block->second.bytes;
  return reinterpret_cast<void*>(block->first);
}

DeviceMemory::Blocks::iterator DeviceMemory::find_free(size_t bytes) {
  auto found = free_.lower_bound(bytes);
  if (found == free_.end() || found->first > bytes + bytes / 4) return blocks_.end();
  auto block = blocks_.find(found->second);
  free_.erase(found);
  block->second.remembered.clear();
  return block;
}

std::unique_ptr<Buffer> DeviceMemory::make_buffer(size_t bytes) {
  try {
    return device_.allocate(bytes);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kOutOfMemory || free_.empty()) throw;
  }
  drop_free_blocks();
  return device_.allocate(bytes);
}

void DeviceMemory::drop_free_blocks() {
  for (const auto& [bytes, address] : free_) blocks_.erase(address);
  free_.clear();
}

void* DeviceMemory::adopt(std::unique_ptr<Buffer> imported) {
  std::lock_guard lock(mutex_);
  const size_t bytes = imported->bytes();
  auto block = place(std::move(imported), bytes);
  block->second.is_shared = true;
  return reinterpret_cast<void*>(block->first);
}

void DeviceMemory::let_go(void* address) {
  std::lock_guard lock(mutex_);
  blocks_.erase(reinterpret_cast<uintptr_t>(address));
}

DeviceMemory::Blocks::iterator DeviceMemory::place(std::unique_ptr<Buffer> buffer, size_t bytes) {
  uintptr_t address = shared_ == nullptr ? gap_for(bytes) : shared_->address_of(*buffer);
  return blocks_.emplace(address, Block{std::move(buffer), bytes, {}, false}).first;
}

/** The first gap between blocks. */
uintptr_t DeviceMemory::gap_for(size_t bytes) const {
  uintptr_t address = base_;
  if (!blocks_.empty()) {
    auto last = std::prev(blocks_.end());
    address = last->first + aligned(last->second.bytes);
  }
  if (address + bytes > base_ + kRangeBytes) {
    address = base_;
    for (const auto& [start, block] : blocks_) {
      if (start - address >= bytes) break;
      address = start + aligned(block.bytes);
    }
  }
  if (address + bytes > base_ + kRangeBytes)
    throw Error(ErrorKind::kOutOfMemory, "the addresses of the device are used up");
  return address;
}

void DeviceMemory::free(void* address) {
  std::lock_guard lock(mutex_);
  auto block = blocks_.find(reinterpret_cast<uintptr_t>(address));
  if (block == blocks_.end()) return;
  in_use_ -= block->second.bytes;
  freed_.push_back({block->first, time_});
  reuse_freed_blocks();
}

void DeviceMemory::queue_is_busy(const void* queue) {
  std::lock_guard lock(mutex_);
  busy_.emplace(queue, time_++);
}

void DeviceMemory::queue_is_idle(const void* queue) {
  std::lock_guard lock(mutex_);
  busy_.erase(queue);
  reuse_freed_blocks();
}

/** Work in a queue may use a block that was freed after the queue became busy. */
void DeviceMemory::reuse_freed_blocks() {
  uint64_t earliest = time_;
  for (const auto& [queue, since] : busy_) earliest = std::min(earliest, since);
  while (!freed_.empty() && freed_.front().time <= earliest) {
    uintptr_t address = freed_.front().address;
    free_.emplace(blocks_.at(address).bytes, address);
    freed_.pop_front();
  }
}

bool DeviceMemory::is_in_block(const void* address) const {
  std::lock_guard lock(mutex_);
  auto number = reinterpret_cast<uintptr_t>(address);
  auto block = blocks_.upper_bound(number);
  return block != blocks_.begin() && number - std::prev(block)->first < std::prev(block)->second.bytes;
}

bool DeviceMemory::holds(const void* address) const {
  if (shared_ != nullptr) return is_in_block(address) || shared_->holds(address);
  auto number = reinterpret_cast<uintptr_t>(address);
  return number >= base_ && number < base_ + kRangeBytes;
}

std::pair<DeviceMemory::Block*, size_t> DeviceMemory::find(const void* address, size_t bytes) {
  auto number = reinterpret_cast<uintptr_t>(address);
  auto block = blocks_.upper_bound(number);
  if (block != blocks_.begin()) {
    --block;
    size_t offset = number - block->first;
    if (offset <= block->second.bytes && bytes <= block->second.bytes - offset) return {&block->second, offset};
  }
  if (shared_ != nullptr && shared_->holds(address)) return {nullptr, number};
  throw Error(ErrorKind::kInvalid,
              "an address of " + std::to_string(bytes) + " bytes is in no block of the device's memory");
}

BufferRange DeviceMemory::range(const void* address, size_t bytes) {
  std::lock_guard lock(mutex_);
  auto [block, offset] = find(address, bytes);
  return {block == nullptr ? &shared_->all_memory() : block->buffer.get(), offset, bytes};
}

BufferRange DeviceMemory::range_to_write(const void* address, size_t bytes) {
  std::lock_guard lock(mutex_);
  auto [block, offset] = find(address, bytes);
  if (block == nullptr) return {&shared_->all_memory(), offset, bytes};
  block->forget(offset, bytes);
  return {block->buffer.get(), offset, bytes};
}

void DeviceMemory::Block::forget(size_t offset, size_t bytes) {
  for (auto one = remembered.begin(); one != remembered.end();) {
    bool beside = one->first < offset + bytes && offset < one->first + one->second.size();
    one = beside ? remembered.erase(one) : std::next(one);
  }
}

void DeviceMemory::remember(const void* address, const void* from, size_t bytes) {
  if (bytes > kMostRemembered) return;
  const auto* first = static_cast<const std::byte*>(from);
  std::lock_guard lock(mutex_);
  auto [block, offset] = find(address, bytes);
  if (block == nullptr || block->is_shared) return;  // others may change it
  block->remembered[offset].assign(first, first + bytes);
}

std::vector<std::byte> DeviceMemory::remembered(const void* address, size_t bytes) {
  std::lock_guard lock(mutex_);
  auto [block, offset] = find(address, bytes);
  if (block == nullptr) return {};
  auto one = block->remembered.find(offset);
  bool whole = one != block->remembered.end() && one->second.size() == bytes;
  return whole ? one->second : std::vector<std::byte>();
}

size_t DeviceMemory::bytes_in_use() const {
  std::lock_guard lock(mutex_);
  return in_use_;
}

}  // namespace ortolan::gpu::epkit
