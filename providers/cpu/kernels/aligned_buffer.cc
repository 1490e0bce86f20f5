// AlignedBuffer and the scratch space of each thread.
#include "cpu/kernels/aligned_buffer.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "base/aligned_block.h"
#include "base/memory_budget.h"
#include "base/packed_parts.h"
#include "base/run_scope.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr size_t kLargestKept = size_t{64} << 20;
constexpr size_t kSmallestCharged = size_t{64} << 10;  // less of it by each thread is nothing beside a run's values

#ifdef __SANITIZE_ADDRESS__
constexpr bool kIsChecked = true;
#else
constexpr bool kIsChecked = false;
#endif

/** Ends a block that the run which took it was charged for. */
struct BlockEnd {
  base::MemoryCharge charge;
  void operator()(void* block) const { std::free(block); }
};

void* aligned(size_t bytes) {
  void* block = base::allocate_aligned(bytes);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

/** The scratch of one thread and one user. Each run that uses it is charged, until another run does. */
class Slot {
 public:
  void* take(size_t bytes) {
    const bool too_large_to_keep = bytes_ > kLargestKept && bytes <= kLargestKept;
    if (kIsChecked || bytes_ < bytes || too_large_to_keep) {
      replace(std::max(bytes, size_t{4096}));
    } else if (bytes_ > kSmallestCharged && charge_.budget() != base::run_scope().memory) {
      charge(bytes_);
    }
    return block_.get();
  }

 private:
  struct Free {
    void operator()(void* block) const { std::free(block); }
  };

  /** Where accesses are checked, the block before ends at each request, so that whoever goes on to use it is found. */
  void replace(size_t bytes) {
    block_.reset();
    bytes_ = 0;
    charge(bytes);
    block_.reset(aligned(bytes));
    bytes_ = bytes;
  }

  void charge(size_t bytes) {
    { const base::MemoryCharge before = std::move(charge_); }
    if (bytes > kSmallestCharged) charge_.add(bytes);
  }

  std::unique_ptr<void, Free> block_;
  size_t bytes_ = 0;
  base::MemoryCharge charge_;
};

}  // namespace

AlignedBuffer::AlignedBuffer(size_t bytes, Lifetime lifetime) : bytes_(bytes) {
  if (bytes == 0) return;
  const bool of_a_run = base::run_scope().memory != nullptr && !base::parts_are_kept();
  if (lifetime == Lifetime::kSession && !of_a_run) {
    data_ = base::packed_block(bytes);
    return;
  }
  base::MemoryCharge charge(bytes);
  data_ = std::shared_ptr<void>(aligned(bytes), BlockEnd{std::move(charge)});
}

void* thread_scratch(Scratch user, size_t bytes) {
  static thread_local Slot slots[static_cast<int>(Scratch::kCount)];
  return slots[static_cast<int>(user)].take(bytes);
}

}  // namespace ortolan::cpu::kernels
