// A plugin's allocators and data transfers.
#include "api/plugins/ep_memory.h"

#include <algorithm>
#include <charconv>

#include "api/arguments.h"
#include "api/guard.h"
#include "api/plugins/ep_library.h"
#include "api/plugins/ep_members.h"
#include "api/plugins/ep_stream.h"
#include "tensor/value.h"

namespace ortolan::api {
namespace {

// The releases that added members to OrtAllocator, whose version is no plugin's but the header's it was made with.
constexpr uint32_t kReserveSince = 18, kStatsSince = 23, kStreamSince = 23, kShrinkSince = 25;

/** The number under that key; 0 where it is missing or none. */
int64_t number_of(const base::KeyValues& entries, std::string_view key) {
  const std::string* text = entries.find(key);
  int64_t number = 0;
  if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), number);
  return number;
}

}  // namespace

PluginAllocator::PluginAllocator(std::shared_ptr<EpLibrary> library, OrtEpFactory& factory, const OrtMemoryInfo& memory,
                                 OrtAllocator& theirs)
    : library_(std::move(library)),
      factory_(factory),
      info_(interned(*unwrap_optional(&memory), EpLibrary::name_of(factory))),
      theirs_(theirs) {}

PluginAllocator::~PluginAllocator() {
  auto release = member_if(factory_, &OrtEpFactory::ReleaseAllocator, 23);
  if (release != nullptr) release(&factory_, &theirs_);
}

void* PluginAllocator::checked(void* block, size_t bytes) const {
  require(block != nullptr || bytes == 0, ErrorCode::kFail, "the allocator of memory '", info_.name, "' on device ",
          info_.device.id, " gave no block of ", bytes, " bytes");
  return block;
}

void* PluginAllocator::allocate(size_t bytes) {
  require(theirs_.Alloc != nullptr && theirs_.Free != nullptr, ErrorCode::kEpFail, "the allocator of memory '",
          info_.name, "' has no function Alloc or Free");
  return bytes == 0 ? nullptr : checked(theirs_.Alloc(&theirs_, bytes), bytes);
}

void* PluginAllocator::reserve(size_t bytes) {
  if (theirs_.version < kReserveSince || theirs_.Reserve == nullptr || bytes == 0) return allocate(bytes);
  return checked(theirs_.Reserve(&theirs_, bytes), bytes);
}

void* PluginAllocator::allocate_on(Stream& stream, size_t bytes) {
  auto* ours = dynamic_cast<PluginStream*>(&stream);
  bool can = ours != nullptr && theirs_.version >= kStreamSince && theirs_.AllocOnStream != nullptr;
  if (!can || bytes == 0) return allocate(bytes);
  return checked(theirs_.AllocOnStream(&theirs_, bytes, wrap<OrtSyncStream>(ours)), bytes);
}

AllocatorStats PluginAllocator::stats() const {
  AllocatorStats stats;
  if (theirs_.version < kStatsSince || theirs_.GetStats == nullptr) return stats;
  OrtKeyValuePairs* given = nullptr;
  check_status(theirs_.GetStats(&theirs_, &given));
  if (given == nullptr) return stats;
  std::unique_ptr<base::KeyValues> entries(unwrap_optional(given));
  stats.limit = number_of(*entries, "Limit");
  stats.in_use = number_of(*entries, "InUse");
  stats.total_allocated = number_of(*entries, "TotalAllocated");
  stats.max_in_use = number_of(*entries, "MaxInUse");
  stats.allocations = number_of(*entries, "NumAllocs");
  stats.reserves = number_of(*entries, "NumReserves");
  stats.arena_extensions = number_of(*entries, "NumArenaExtensions");
  stats.arena_shrinkages = number_of(*entries, "NumArenaShrinkages");
  stats.max_allocation = number_of(*entries, "MaxAllocSize");
  return stats;
}

void PluginAllocator::shrink() {
  if (theirs_.version >= kShrinkSince && theirs_.Shrink != nullptr) check_status(theirs_.Shrink(&theirs_));
}

PluginDataTransfer::PluginDataTransfer(std::shared_ptr<EpLibrary> library, std::string provider,
                                       OrtDataTransferImpl& theirs)
    : library_(std::move(library)), provider_(std::move(provider)), theirs_(theirs) {
  for (const auto& device : library_->devices()) {
    const MemoryInfo* memory = unwrap_optional(device->memory);
    if (memory != nullptr && device->provider == provider_) own_.push_back(&interned(*memory, provider_));
  }
}

PluginDataTransfer::~PluginDataTransfer() {
  if (theirs_.Release != nullptr) theirs_.Release(&theirs_);
}

/** A plugin sees the device of a memory, not the owner: it would take another provider's on its own device for its. */
bool PluginDataTransfer::looks_like_own(const MemoryInfo& memory) const {
  if (memory.on_cpu()) return false;
  return std::ranges::any_of(
      own_, [&](const MemoryInfo* own) { return own->device == memory.device && !same_device(*own, memory); });
}

bool PluginDataTransfer::can_copy(const MemoryInfo& from, const MemoryInfo& to) const {
  if (theirs_.CanCopy == nullptr || looks_like_own(from) || looks_like_own(to)) return false;
  return theirs_.CanCopy(&theirs_, wrap<const OrtMemoryDevice>(&from), wrap<const OrtMemoryDevice>(&to));
}

void PluginDataTransfer::copy(const Tensor& from, Tensor& to, Stream* stream) const {
  Value source(from), target(to);
  const OrtValue* sources[] = {wrap<const OrtValue>(&source)};
  OrtValue* targets[] = {wrap<OrtValue>(&target)};
  auto* queue = dynamic_cast<PluginStream*>(stream);
  OrtSyncStream* streams[] = {wrap<OrtSyncStream>(queue)};
  require_member(theirs_.CopyTensors, provider_, "OrtDataTransferImpl::CopyTensors");
  check_plugin(theirs_.CopyTensors(&theirs_, sources, targets, queue == nullptr ? nullptr : streams, 1), provider_,
               "CopyTensors");
}

}  // namespace ortolan::api
