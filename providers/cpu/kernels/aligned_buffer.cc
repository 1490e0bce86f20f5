// AlignedBuffer and the scratch space of each thread.
#include "cpu/kernels/aligned_buffer.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "base/aligned_block.h"
#include "base/lasting_memory.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr size_t kLargestKept = size_t{64} << 20;

}  // namespace

AlignedBuffer::AlignedBuffer(size_t bytes, Lifetime lifetime) : bytes_(bytes) {
  if (bytes == 0) return;
  if (lifetime == Lifetime::kSession) {
    data_ = base::allocate_lasting(bytes);
    return;
  }
  void* block = base::allocate_aligned(bytes);
  if (block == nullptr) throw std::bad_alloc();
  data_.reset(block, std::free);
}

void* thread_scratch(Scratch user, size_t bytes) {
  static thread_local AlignedBuffer buffers[static_cast<int>(Scratch::kCount)];
  AlignedBuffer& buffer = buffers[static_cast<int>(user)];
  const bool too_large_to_keep = buffer.bytes() > kLargestKept && bytes <= kLargestKept;
  if (buffer.bytes() < bytes || too_large_to_keep) {
    buffer = AlignedBuffer();
    buffer = AlignedBuffer(std::max(bytes, size_t{4096}));
  }
  return buffer.as<void>();
}

}  // namespace ortolan::cpu::kernels
