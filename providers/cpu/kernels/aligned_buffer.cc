// AlignedBuffer and the scratch space of each thread.
#include "cpu/kernels/aligned_buffer.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace ortolan::cpu::kernels {
namespace {

constexpr size_t kLine = 64;
constexpr size_t kLargestKept = size_t{64} << 20;

size_t rounded(size_t bytes, size_t unit) {
  if (bytes > SIZE_MAX - unit) throw std::bad_alloc();
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

AlignedBuffer::AlignedBuffer(size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  data_ = std::aligned_alloc(kLine, rounded(bytes, kLine));
  if (data_ == nullptr) throw std::bad_alloc();
}

AlignedBuffer::~AlignedBuffer() { std::free(data_); }

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
