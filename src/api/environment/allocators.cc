// Allocators: ours as OrtAllocator structs, the caller's as tensor::Allocator, and the slots on them.
#include "api/environment/allocators.h"

#include <cstring>

#include "api/arguments.h"
#include "api/guard.h"
#include "api/plugins/ep_registry.h"
#include "api/plugins/ep_stream.h"
#include "api/status.h"

namespace ortolan::api {
namespace {

/** One of ours in the caller's hands. */
struct ApiAllocator : OrtAllocator {
  std::shared_ptr<Allocator> core;
};

void* ORT_API_CALL alloc_block(OrtAllocator* self, size_t size) {
  return guard_or<void*>(nullptr, [&] { return static_cast<ApiAllocator*>(self)->core->allocate(size); });
}
void ORT_API_CALL free_block(OrtAllocator* self, void* block) { static_cast<ApiAllocator*>(self)->core->free(block); }
const OrtMemoryInfo* ORT_API_CALL memory_info(const OrtAllocator* self) {
  return wrap<const OrtMemoryInfo>(&static_cast<const ApiAllocator*>(self)->core->info());
}
void* ORT_API_CALL reserve_block(OrtAllocator* self, size_t size) {
  return guard_or<void*>(nullptr, [&] { return static_cast<ApiAllocator*>(self)->core->reserve(size); });
}
OrtStatus* ORT_API_CALL get_stats(const OrtAllocator* self, OrtKeyValuePairs** out) {
  return guard([&] { give(out, stats_of(*static_cast<const ApiAllocator*>(self)->core)); });
}
void* ORT_API_CALL alloc_on_stream(OrtAllocator* self, size_t size, OrtSyncStream* stream) {
  if (stream == nullptr) return alloc_block(self, size);
  return guard_or<void*>(
      nullptr, [&] { return static_cast<ApiAllocator*>(self)->core->allocate_on(*unwrap_optional(stream), size); });
}
OrtStatus* ORT_API_CALL shrink(OrtAllocator* self) {
  return guard([&] { static_cast<ApiAllocator*>(self)->core->shrink(); });
}

std::unique_ptr<ApiAllocator> make_api_allocator(std::shared_ptr<Allocator> core) {
  OrtAllocator members{ORT_API_VERSION, alloc_block, free_block,      memory_info,
                       reserve_block,   get_stats,   alloc_on_stream, shrink};
  return std::make_unique<ApiAllocator>(ApiAllocator{members, std::move(core)});
}

/** The caller's allocator. Members that its version does not have are not read. */
class CallersAllocator final : public Allocator {
 public:
  explicit CallersAllocator(OrtAllocator* theirs) : theirs_(theirs) {
    const OrtMemoryInfo* info = theirs->Info(theirs);
    info_ = info == nullptr ? &cpu_allocator()->info() : &place_of(*unwrap_optional(info));
  }
  void* allocate(size_t bytes) override { return checked(theirs_->Alloc(theirs_, bytes), bytes); }
  void* reserve(size_t bytes) override {
    if (theirs_->version < 18 || theirs_->Reserve == nullptr) return allocate(bytes);
    return checked(theirs_->Reserve(theirs_, bytes), bytes);
  }
  void free(void* block) noexcept override { theirs_->Free(theirs_, block); }
  const MemoryInfo& info() const override { return *info_; }
  void shrink() override {
    if (theirs_->version >= 25 && theirs_->Shrink != nullptr) ReleaseStatus(theirs_->Shrink(theirs_));
  }

 private:
  static void* checked(void* block, size_t bytes) {
    require(block != nullptr || bytes == 0, ErrorCode::kFail, "the caller's allocator gave no block of ", bytes,
            " bytes");
    return block;
  }
  OrtAllocator* theirs_;
  const MemoryInfo* info_;
};

bool is_ours(const OrtAllocator* allocator) { return allocator->Alloc == alloc_block; }

}  // namespace

std::shared_ptr<Allocator> core_allocator(OrtAllocator* allocator) {
  require_argument(allocator, "allocator");
  if (is_ours(allocator)) return static_cast<ApiAllocator*>(allocator)->core;
  return std::make_shared<CallersAllocator>(allocator);
}

OrtAllocator* new_api_allocator(std::shared_ptr<Allocator> core) {
  return make_api_allocator(std::move(core)).release();
}

OrtAllocator* default_api_allocator() {
  static OrtAllocator* allocator = new_api_allocator(cpu_allocator());
  return allocator;
}

void* allocate_for_caller(OrtAllocator* allocator, size_t bytes) {
  require_argument(allocator, "allocator");
  void* block = allocator->Alloc(allocator, bytes);
  require(block != nullptr || bytes == 0, ErrorCode::kFail, "the allocator gave no block of ", bytes, " bytes");
  return block;
}

char* copy_text(OrtAllocator* allocator, std::string_view text) {
  auto* copy = static_cast<char*>(allocate_for_caller(allocator, text.size() + 1));
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  return copy;
}

char** copy_texts(OrtAllocator* allocator, const std::vector<std::string_view>& texts) {
  if (texts.empty()) return nullptr;
  auto** copies = static_cast<char**>(allocate_for_caller(allocator, texts.size() * sizeof(char*)));
  for (size_t i = 0; i < texts.size(); ++i) copies[i] = copy_text(allocator, texts[i]);
  return copies;
}

base::KeyValues stats_of(const Allocator& allocator) {
  AllocatorStats stats = allocator.stats();
  base::KeyValues entries;
  auto add = [&](const char* name, int64_t value) { entries.set(name, join(value)); };
  add("Limit", stats.limit);
  add("InUse", stats.in_use);
  add("TotalAllocated", stats.total_allocated);
  add("MaxInUse", stats.max_in_use);
  add("NumAllocs", stats.allocations);
  add("NumReserves", stats.reserves);
  add("NumArenaExtensions", stats.arena_extensions);
  add("NumArenaShrinkages", stats.arena_shrinkages);
  add("MaxAllocSize", stats.max_allocation);
  return entries;
}

OrtStatus* ORT_API_CALL GetAllocatorWithDefaultOptions(OrtAllocator** out) noexcept {
  return guard([&] { put(out, default_api_allocator()); });
}

void ORT_API_CALL ReleaseAllocator(OrtAllocator* allocator) noexcept {
  if (allocator == nullptr || !is_ours(allocator) || allocator == default_api_allocator()) return;
  delete static_cast<ApiAllocator*>(allocator);
}

OrtStatus* ORT_API_CALL AllocatorAlloc(OrtAllocator* allocator, size_t size, void** out) noexcept {
  return guard([&] {
    require_argument(out, "out");
    *out = allocate_for_caller(allocator, size);
  });
}

OrtStatus* ORT_API_CALL AllocatorFree(OrtAllocator* allocator, void* p) noexcept {
  return guard([&] {
    require_argument(allocator, "allocator");
    allocator->Free(allocator, p);
  });
}

OrtStatus* ORT_API_CALL AllocatorGetInfo(const OrtAllocator* allocator, const OrtMemoryInfo** out) noexcept {
  return guard([&] {
    require_argument(allocator, "allocator");
    put(out, allocator->Info(allocator));
  });
}

OrtStatus* ORT_API_CALL AllocatorGetStats(const OrtAllocator* allocator, OrtKeyValuePairs** out) noexcept {
  return guard([&] {
    require_argument(allocator, "allocator");
    require_argument(out, "out");
    require(allocator->version >= 23 && allocator->GetStats != nullptr, ErrorCode::kNotImplemented,
            "this allocator keeps no statistics");
    check_status(allocator->GetStats(allocator, out));
  });
}

}  // namespace ortolan::api
