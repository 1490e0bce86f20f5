// AlignedBuffer.
#include "cpu/kernels/aligned_buffer.h"

#include <cstdlib>
#include <new>

#include "base/memory/aligned_block.h"
#include "base/memory/memory_budget.h"
#include "base/memory/packed_parts.h"
#include "base/threads/run_scope.h"

namespace ortolan::cpu::kernels {
namespace {

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

}  // namespace ortolan::cpu::kernels
