// Memory that a frame keeps from run to run.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "tensor/allocator.h"

namespace ortolan::runtime {

/** A block of the session's allocator, 64-byte aligned; empty by default. */
class RunBlock {
 public:
  RunBlock() = default;
  /** Throws what the allocator throws. */
  RunBlock(std::shared_ptr<tensor::Allocator> allocator, size_t bytes);
  RunBlock(RunBlock&& other) noexcept { swap(other); }
  RunBlock& operator=(RunBlock&& other) noexcept {
    swap(other);
    return *this;
  }
  ~RunBlock() {
    if (memory_ != nullptr) allocator_->free(memory_);
  }

  std::byte* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  void swap(RunBlock& other) noexcept {
    allocator_.swap(other.allocator_);
    std::swap(memory_, other.memory_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }

  std::shared_ptr<tensor::Allocator> allocator_;
  void* memory_ = nullptr;
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace ortolan::runtime
