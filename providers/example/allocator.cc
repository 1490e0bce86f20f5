// Allocators as the runtime sees them: addresses of the device are numbers, those of the host are memory.
#include "allocator.h"

#include <new>

namespace ortolan::example {
namespace {

constexpr std::align_val_t kHostAlignment{256};

void* take_host(size_t bytes) {
  void* address = ::operator new(bytes, kHostAlignment, std::nothrow);
  if (address) counters().live[static_cast<int>(Live::kHostBlock)]++;
  return address;
}

void give_back_host(void* address) {
  ::operator delete(address, kHostAlignment);
  counters().live[static_cast<int>(Live::kHostBlock)]--;
}

bool is_for_constants(const Host& host, const OrtMemoryInfo* info) {
  OrtAllocatorType type = OrtDeviceAllocator;
  check(host, host.api->MemoryInfoGetType(info, &type));
  return type == OrtReadOnlyAllocator;
}

}  // namespace

Allocator::Allocator(const Host& host, Device& device, const OrtMemoryInfo* memory_info, size_t limit)
    : OrtAllocator{},
      host_(host),
      device_(device),
      info_(memory_info),
      on_device_(host.api->MemoryInfoGetDeviceMemType(memory_info) == OrtDeviceMemoryType_DEFAULT),
      for_constants_(is_for_constants(host, memory_info)),
      limit_(limit) {
  version = host.level;
  Alloc = alloc;
  Free = free;
  Info = info;
  Reserve = alloc;
  GetStats = get_stats;
  AllocOnStream = alloc_on_stream;
}

void* Allocator::take(size_t bytes, Queue* queue) {
  std::lock_guard lock(lock_);
  if (limit_ > 0 && (bytes > limit_ || in_use_ > limit_ - bytes)) return nullptr;
  void* address = on_device_ ? device_.allocate(bytes, queue) : take_host(bytes);
  if (!address) return nullptr;
  if (for_constants_) note(Event::kConstant);
  sizes_[address] = bytes;
  in_use_ += bytes;
  most_ = std::max(most_, in_use_);
  given_++;
  return address;
}

void Allocator::give_back(void* address) {
  {
    std::lock_guard lock(lock_);
    auto found = sizes_.find(address);
    if (found == sizes_.end()) return;
    in_use_ -= found->second;
    sizes_.erase(found);
  }
  on_device_ ? device_.free(address) : give_back_host(address);
}

void* ORT_API_CALL Allocator::alloc(OrtAllocator* self, size_t bytes) noexcept {
  try {
    return static_cast<Allocator*>(self)->take(bytes, nullptr);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void* ORT_API_CALL Allocator::alloc_on_stream(OrtAllocator* self, size_t bytes, OrtSyncStream* stream) noexcept {
  auto& allocator = *static_cast<Allocator*>(self);
  try {
    void* handle = stream ? allocator.host_.api->SyncStream_GetHandle(stream) : nullptr;
    return allocator.take(bytes, allocator.device_.find_queue(handle));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

// The runtime frees a block when it has put the last work on it into a queue, which may be long before that is done.
void ORT_API_CALL Allocator::free(OrtAllocator* self, void* address) noexcept {
  auto& allocator = *static_cast<Allocator*>(self);
  OrtStatus* status = guard(allocator.host_, [&] { allocator.give_back(address); });
  allocator.host_.api->ReleaseStatus(status);  // no memory to note it: the block stays for good
}

const OrtMemoryInfo* ORT_API_CALL Allocator::info(const OrtAllocator* self) noexcept {
  return static_cast<const Allocator*>(self)->info_;
}

OrtStatus* ORT_API_CALL Allocator::get_stats(const OrtAllocator* self, OrtKeyValuePairs** out) noexcept {
  const auto& allocator = *static_cast<const Allocator*>(self);
  return guard(allocator.host_, [&] {
    const OrtApi& api = *allocator.host_.api;
    std::lock_guard lock(allocator.lock_);
    OrtKeyValuePairs* stats = nullptr;
    api.CreateKeyValuePairs(&stats);
    api.AddKeyValuePair(stats, "Limit", std::to_string(allocator.limit_).c_str());
    api.AddKeyValuePair(stats, "InUse", std::to_string(allocator.in_use_).c_str());
    api.AddKeyValuePair(stats, "MaxInUse", std::to_string(allocator.most_).c_str());
    api.AddKeyValuePair(stats, "NumAllocs", std::to_string(allocator.given_).c_str());
    *out = stats;
  });
}

}  // namespace ortolan::example
