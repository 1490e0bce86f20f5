// Space that kernels use for a while.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/memory/memory_budget.h"

namespace ortolan::cpu::kernels {

/** Memory, and the run that is charged for it. */
struct ScratchBlock {
  ScratchBlock() = default;
  ScratchBlock(ScratchBlock&& other) noexcept { swap(other); }
  ScratchBlock& operator=(ScratchBlock&& other) noexcept {
    swap(other);
    return *this;
  }
  ~ScratchBlock();
  void swap(ScratchBlock& other) noexcept {
    std::swap(data, other.data);
    std::swap(bytes, other.bytes);
    std::swap(charge, other.charge);
  }

  void* data = nullptr;
  size_t bytes = 0;
  base::MemoryCharge charge;
};

/** At least `bytes` from what the calling thread keeps, or new ones. Throws std::bad_alloc, and as MemoryBudget::charge
    where the run may not hold that much. */
ScratchBlock take_scratch(size_t bytes);
/** To the calling thread, which keeps it, or gives it back to the system where enough is kept. */
void give_scratch(ScratchBlock block) noexcept;

/** Bytes that all threads hold as scratch, leased or kept. */
size_t scratch_held() noexcept;
/** Above so many a block of some size that is given back goes to the system. Of so many processors. */
constexpr size_t scratch_bound(size_t processors) {
  constexpr size_t kLeast = size_t{256} << 20, kEach = size_t{16} << 20;
  return processors * kEach < kLeast ? kLeast : processors * kEach;
}

/**
 * `count` elements, aligned to 64 bytes and uninitialised, that are the owner's as long as this lives; they are apart
 * from all others that live. Taken from what the calling thread keeps, for which they are as near as any memory.
 * Under AddressSanitizer each is a block of its own that ends here.
 */
template <class T>
class Scratch {
 public:
  Scratch() = default;
  explicit Scratch(int64_t count) : block_(take_scratch(static_cast<size_t>(count) * sizeof(T))) {}
  Scratch(Scratch&&) noexcept = default;
  Scratch& operator=(Scratch&&) noexcept = default;
  ~Scratch() {
    if (block_.data != nullptr) give_scratch(std::move(block_));
  }

  T* data() const noexcept { return static_cast<T*>(block_.data); }

 private:
  ScratchBlock block_;
};

}  // namespace ortolan::cpu::kernels
