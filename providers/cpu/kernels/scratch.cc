// The scratch blocks of each thread.
#include "cpu/kernels/scratch.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <new>
#include <thread>

#include "base/memory/aligned_block.h"
#include "base/threads/run_scope.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr size_t kSmallest = 4096;
constexpr size_t kMostOfAThread = size_t{64} << 20;    // that it keeps while nobody uses them
constexpr size_t kSmallestCharged = size_t{64} << 10;  // less of it by each thread is nothing beside a run's values
constexpr size_t kSmallestGiven = size_t{256} << 10;   // back to the system, while others hold too much

#ifdef __SANITIZE_ADDRESS__
constexpr bool kIsChecked = true;
#else
constexpr bool kIsChecked = false;
#endif

std::atomic<size_t> held = 0;

/** Whether a block serves a request without being kept from a much larger one. */
bool suits(size_t block, size_t bytes) { return block >= bytes && block / 8 <= std::max(bytes, size_t{32} << 10); }

void allocate(ScratchBlock& block, size_t bytes) {
  block.data = base::allocate_aligned(bytes);
  if (block.data == nullptr) throw std::bad_alloc();
  block.bytes = bytes;
  held.fetch_add(bytes, std::memory_order_relaxed);
}

/** Each run that uses a block is charged, until another run does. */
void charge_run(ScratchBlock& block, size_t bytes) {
  if (bytes <= kSmallestCharged || block.charge.budget() == base::run_scope().memory) return;
  { const base::MemoryCharge before = std::move(block.charge); }
  block.charge.add(bytes);
}

bool too_much_is_held() {
  static const size_t bound = scratch_bound(std::thread::hardware_concurrency());
  return held.load(std::memory_order_relaxed) > bound;
}

/** What one thread keeps. */
class Keeper {
 public:
  ScratchBlock take(size_t bytes) {
    ScratchBlock block;
    const size_t at = best_for(bytes);
    if (at < count_) {
      block = remove(at);
      charge_run(block, block.bytes);
      return block;
    }
    let_go_of_the_next_smaller(bytes);
    charge_run(block, bytes);
    allocate(block, bytes);
    return block;
  }

  void give(ScratchBlock block) {
    if (kIsChecked || block.bytes > kMostOfAThread) return;
    if (block.bytes >= kSmallestGiven && too_much_is_held()) return;
    while (count_ == blocks_.size() || bytes_ + block.bytes > kMostOfAThread) remove(0);
    bytes_ += block.bytes;
    blocks_[count_++] = std::move(block);
  }

 private:
  /** Which one: the smallest that suits, of those the last one given; count_: none. */
  size_t best_for(size_t bytes) const {
    size_t best = count_;
    for (size_t i = count_; i-- > 0;) {
      if (suits(blocks_[i].bytes, bytes) && (best == count_ || blocks_[i].bytes < blocks_[best].bytes)) best = i;
    }
    return best;
  }

  /** In whose place a larger one is made. */
  void let_go_of_the_next_smaller(size_t bytes) {
    size_t next = count_;
    for (size_t i = 0; i < count_; ++i) {
      if (blocks_[i].bytes < bytes && (next == count_ || blocks_[i].bytes > blocks_[next].bytes)) next = i;
    }
    if (next < count_ && suits(bytes, blocks_[next].bytes)) remove(next);
  }

  ScratchBlock remove(size_t at) {
    ScratchBlock block = std::move(blocks_[at]);
    bytes_ -= block.bytes;
    std::move(blocks_.begin() + at + 1, blocks_.begin() + count_, blocks_.begin() + at);
    --count_;
    return block;
  }

  std::array<ScratchBlock, 16> blocks_;  // those given last are last
  size_t count_ = 0, bytes_ = 0;
};

Keeper& keeper() {
  static thread_local Keeper keeper;
  return keeper;
}

}  // namespace

ScratchBlock::~ScratchBlock() {
  if (data == nullptr) return;
  std::free(data);
  held.fetch_sub(bytes, std::memory_order_relaxed);
}

ScratchBlock take_scratch(size_t bytes) { return keeper().take(std::max(bytes, kSmallest)); }
void give_scratch(ScratchBlock block) noexcept { keeper().give(std::move(block)); }
size_t scratch_held() noexcept { return held.load(std::memory_order_relaxed); }

}  // namespace ortolan::cpu::kernels
