// The arena: regions cut into pieces, each with its bookkeeping in the 64 bytes before it.
#include "tensor/arena.h"

#include <algorithm>
#include <bit>

#include "base/checked.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define ORTOLAN_POISON(address, size) ASAN_POISON_MEMORY_REGION(address, size)
#define ORTOLAN_UNPOISON(address, size) ASAN_UNPOISON_MEMORY_REGION(address, size)
#else
#define ORTOLAN_POISON(address, size) ((void)0)
#define ORTOLAN_UNPOISON(address, size) ((void)0)
#endif

namespace ortolan::tensor {
using namespace base;
namespace {

constexpr size_t kUnit = 64;  // sizes and addresses are multiples of this
constexpr int64_t kInitialRegion = int64_t{1} << 20;
constexpr int64_t kInitialGrowth = int64_t{2} << 20;
constexpr int64_t kLargestDoubling = int64_t{1} << 30;

int64_t or_default(int64_t value, int64_t fallback) { return value > 0 ? value : fallback; }

/** The class of pieces of `size` bytes: four classes to each power of two. Larger sizes have larger classes. */
int class_of(size_t size) {
  size_t units = size / kUnit;
  if (units < 4) return static_cast<int>(units);
  int log = std::bit_width(units) - 1;
  return log * 4 + static_cast<int>((units >> (log - 2)) & 3);
}

}  // namespace

void set_option(ArenaOptions& options, std::string_view key, size_t value) {
  auto number = static_cast<int64_t>(value);
  if (key == "max_mem") {
    options.limit = value;
  } else if (key == "arena_extend_strategy") {
    options.extend_strategy = static_cast<int>(number);
  } else if (key == "initial_chunk_size_bytes") {
    options.initial_region = number;
  } else if (key == "max_dead_bytes_per_chunk") {
    options.max_dead_bytes = number;
  } else if (key == "initial_growth_chunk_size_bytes") {
    options.initial_growth = number;
  } else if (key == "max_power_of_two_extend_bytes") {
    options.largest_doubling = number;
  } else {
    fail(ErrorCode::kInvalidArgument, "an arena has no option '", key,
         "'; there are max_mem, arena_extend_strategy, initial_chunk_size_bytes, max_dead_bytes_per_chunk, "
         "initial_growth_chunk_size_bytes and max_power_of_two_extend_bytes");
  }
}

/** Stands before each block. */
struct alignas(kUnit) Arena::Piece {
  size_t size;    // bytes of the block
  Piece* before;  // neighbours in the region, NULL at its ends
  Piece* after;
  Piece* previous_free;
  Piece* next_free;
  bool in_use;
  bool reserved;  // outside the regions, straight from the source

  char* block() { return reinterpret_cast<char*>(this) + sizeof(Piece); }
  static Piece* of(void* block) { return reinterpret_cast<Piece*>(static_cast<char*>(block) - sizeof(Piece)); }
};

Arena::Arena(const ArenaOptions& options, std::shared_ptr<Allocator> source)
    : options_(options), source_(std::move(source)), info_([this]() -> const MemoryInfo& {
        MemoryInfo info = source_->info();
        info.allocator_type = 1;
        return interned(info);
      }()) {
  next_region_ = static_cast<size_t>(or_default(options_.initial_region, kInitialRegion));
  stats_.limit = static_cast<int64_t>(options_.limit);
}

Arena::~Arena() {
  for (Piece* region : regions_) {
    ORTOLAN_UNPOISON(region->block(), region->size);
    source_->free(region);
  }
}

void* Arena::allocate(size_t bytes) {
  if (bytes == 0) return nullptr;
  size_t rounded = checked_add(bytes, kUnit - 1) / kUnit * kUnit;
  std::lock_guard lock(mutex_);
  Piece* piece = take_free(rounded);
  if (piece == nullptr) piece = extend(rounded);
  split(piece, rounded);
  piece->in_use = true;
  ORTOLAN_UNPOISON(piece->block(), piece->size);
  count_allocation(piece->size);
  return piece->block();
}

void* Arena::reserve(size_t bytes) {
  if (bytes == 0) return nullptr;
  size_t rounded = checked_add(bytes, kUnit - 1) / kUnit * kUnit;
  std::lock_guard lock(mutex_);
  if (options_.limit != 0) require_left(rounded);
  void* memory = source_->allocate(checked_add(rounded, sizeof(Piece)));
  auto* piece = new (memory) Piece{rounded, nullptr, nullptr, nullptr, nullptr, true, true};
  ++stats_.reserves;
  stats_.total_allocated += static_cast<int64_t>(rounded);
  count_allocation(rounded);
  return piece->block();
}

void Arena::free(void* block) noexcept {
  if (block == nullptr) return;
  Piece* piece = Piece::of(block);
  std::lock_guard lock(mutex_);
  stats_.in_use -= static_cast<int64_t>(piece->size);
  if (piece->reserved) {
    stats_.total_allocated -= static_cast<int64_t>(piece->size);
    source_->free(piece);
    return;
  }
  ORTOLAN_POISON(piece->block(), piece->size);
  piece->in_use = false;
  push_free(join_neighbours(piece));
}

AllocatorStats Arena::stats() const {
  std::lock_guard lock(mutex_);
  return stats_;
}

void Arena::shrink() {
  std::lock_guard lock(mutex_);
  auto idle = [](const Piece* region) { return !region->in_use && region->after == nullptr; };
  for (Piece*& region : regions_) {
    if (!idle(region)) continue;
    remove_free(region);
    stats_.total_allocated -= static_cast<int64_t>(region->size);
    ++stats_.arena_shrinkages;
    ORTOLAN_UNPOISON(region->block(), region->size);
    source_->free(region);
    region = nullptr;
  }
  std::erase(regions_, nullptr);
  next_region_ = static_cast<size_t>(or_default(options_.initial_growth, kInitialGrowth));
}

Arena::Piece* Arena::take_free(size_t bytes) {
  for (int index = class_of(bytes); index < kClasses; ++index) {
    for (Piece* piece = free_[index]; piece != nullptr; piece = piece->next_free) {
      if (piece->size < bytes) continue;  // only possible in the first class looked at
      remove_free(piece);
      return piece;
    }
  }
  return nullptr;
}

size_t Arena::region_size(size_t bytes) const {
  size_t wanted = options_.extend_strategy == 1 ? bytes : std::max(bytes, next_region_ / kUnit * kUnit);
  if (options_.limit == 0) return wanted;
  return std::min(wanted, require_left(bytes));
}

size_t Arena::require_left(size_t bytes) const {
  auto taken = static_cast<size_t>(stats_.total_allocated);
  size_t left = options_.limit > taken ? (options_.limit - taken) / kUnit * kUnit : 0;
  require(bytes <= left, ErrorCode::kFail, "the arena has ", left, " bytes left of its limit of ", options_.limit,
          ", but ", bytes, " are needed; raise the arena's option 'max_mem' or free values first");
  return left;
}

Arena::Piece* Arena::extend(size_t bytes) {
  size_t size = region_size(bytes);
  regions_.reserve(regions_.size() + 1);
  void* memory = source_->allocate(checked_add(size, sizeof(Piece)));
  auto* region = new (memory) Piece{size, nullptr, nullptr, nullptr, nullptr, false, false};
  regions_.push_back(region);  // there is room
  ORTOLAN_POISON(region->block(), region->size);
  stats_.total_allocated += static_cast<int64_t>(size);
  ++stats_.arena_extensions;
  auto largest = static_cast<size_t>(or_default(options_.largest_doubling, kLargestDoubling));
  if (size >= next_region_) next_region_ = std::min(largest, std::max(next_region_ * 2, std::bit_ceil(size)));
  return region;
}

void Arena::split(Piece* piece, size_t bytes) {
  size_t rest = piece->size - bytes;
  if (rest < sizeof(Piece) + kUnit) return;
  ORTOLAN_UNPOISON(piece->block() + bytes, sizeof(Piece));
  auto* other =
      new (piece->block() + bytes) Piece{rest - sizeof(Piece), piece, piece->after, nullptr, nullptr, false, false};
  if (piece->after != nullptr) piece->after->before = other;
  piece->after = other;
  piece->size = bytes;
  push_free(other);
}

void Arena::push_free(Piece* piece) noexcept {
  Piece*& head = free_[class_of(piece->size)];
  piece->previous_free = nullptr;
  piece->next_free = head;
  if (head != nullptr) head->previous_free = piece;
  head = piece;
}

void Arena::remove_free(Piece* piece) noexcept {
  Piece*& link = piece->previous_free ? piece->previous_free->next_free : free_[class_of(piece->size)];
  link = piece->next_free;
  if (piece->next_free != nullptr) piece->next_free->previous_free = piece->previous_free;
}

Arena::Piece* Arena::join_neighbours(Piece* piece) noexcept {
  auto swallow_after = [](Piece* into) {
    Piece* gone = into->after;
    into->size += sizeof(Piece) + gone->size;
    into->after = gone->after;
    if (into->after != nullptr) into->after->before = into;
    ORTOLAN_POISON(gone, sizeof(Piece));
  };
  if (piece->after != nullptr && !piece->after->in_use) {
    remove_free(piece->after);
    swallow_after(piece);
  }
  if (piece->before != nullptr && !piece->before->in_use) {
    piece = piece->before;
    remove_free(piece);
    swallow_after(piece);
  }
  return piece;
}

void Arena::count_allocation(size_t bytes) noexcept {
  auto size = static_cast<int64_t>(bytes);
  ++stats_.allocations;
  stats_.in_use += size;
  stats_.max_in_use = std::max(stats_.max_in_use, stats_.in_use);
  stats_.max_allocation = std::max(stats_.max_allocation, size);
}

}  // namespace ortolan::tensor
