// Counts what is given, and refuses beyond the limit.
#include "gpu/epkit/allocator.h"

#include <algorithm>
#include <new>

namespace ortolan::gpu::epkit {
namespace {

constexpr std::align_val_t kHostAlignment{256};

}  // namespace

Allocator::Allocator(const Host& host, DeviceContext& context, const OrtMemoryInfo* memory, size_t limit)
    : OrtAllocator{},
      host_(host),
      context_(context),
      info_(memory),
      on_device_(host.api->MemoryInfoGetDeviceMemType(memory) == OrtDeviceMemoryType_DEFAULT),
      limit_(limit) {
  version = host.level;
  Alloc = alloc;
  Free = free;
  Info = info;
  Reserve = alloc;
  GetStats = get_stats;
}

void* Allocator::take(size_t bytes) {
  std::lock_guard lock(mutex_);
  if (limit_ > 0 && (bytes > limit_ || in_use_ > limit_ - bytes)) return nullptr;
  void* address = on_device_ ? context_.memory().allocate(bytes) : ::operator new(bytes, kHostAlignment);
  sizes_[address] = bytes;
  in_use_ += bytes;
  most_ = std::max(most_, in_use_);
  given_++;
  return address;
}

void Allocator::give_back(void* address) {
  {
    std::lock_guard lock(mutex_);
    auto found = sizes_.find(address);
    if (found == sizes_.end()) return;
    in_use_ -= found->second;
    sizes_.erase(found);
  }
  if (on_device_) {
    context_.memory().free(address);
  } else {
    ::operator delete(address, kHostAlignment);
  }
}

// The ABI has no status here: whoever wants the memory says that there is none.
void* ORT_API_CALL Allocator::alloc(OrtAllocator* self, size_t bytes) noexcept {
  try {
    return static_cast<Allocator*>(self)->take(bytes);
  } catch (const std::exception&) {
    return nullptr;
  }
}

void ORT_API_CALL Allocator::free(OrtAllocator* self, void* address) noexcept {
  static_cast<Allocator*>(self)->give_back(address);
}

const OrtMemoryInfo* ORT_API_CALL Allocator::info(const OrtAllocator* self) noexcept {
  return static_cast<const Allocator*>(self)->info_;
}

OrtStatus* ORT_API_CALL Allocator::get_stats(const OrtAllocator* self, OrtKeyValuePairs** out) noexcept {
  const auto& allocator = *static_cast<const Allocator*>(self);
  return guard(allocator.host_, [&] {
    const OrtApi& api = *allocator.host_.api;
    std::lock_guard lock(allocator.mutex_);
    OrtKeyValuePairs* stats = nullptr;
    api.CreateKeyValuePairs(&stats);
    api.AddKeyValuePair(stats, "Limit", std::to_string(allocator.limit_).c_str());
    api.AddKeyValuePair(stats, "InUse", std::to_string(allocator.in_use_).c_str());
    api.AddKeyValuePair(stats, "MaxInUse", std::to_string(allocator.most_).c_str());
    api.AddKeyValuePair(stats, "NumAllocs", std::to_string(allocator.given_).c_str());
    *out = stats;
  });
}

}  // namespace ortolan::gpu::epkit
