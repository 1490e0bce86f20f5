// Memory of an OpenCL device, and the parts of it that kernels see.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "opencl/context.h"

namespace ortolan::gpu::opencl {

/** A block and the sub-buffers of it that are bound somewhere: one for each range, however often it is bound.
 *  Thread-safe. */
class Block {
 public:
  Block(std::shared_ptr<Context> context, size_t bytes);

  cl_mem get() const { return memory_.get(); }
  size_t bytes() const { return bytes_; }
  /** Differs from that of every other block there ever was. */
  uint64_t number() const { return number_; }

  /** The range as a memory object, which lives until it is released as often. The whole block is itself. */
  cl_mem acquire(size_t offset, size_t bytes);
  void release(size_t offset, size_t bytes);

 private:
  using Range = std::pair<size_t, size_t>;  // offset, bytes
  struct Part {
    MemoryHandle memory;
    int uses = 0;
  };
  bool is_whole(size_t offset, size_t bytes) const { return offset == 0 && bytes == bytes_; }
  MemoryHandle create_part(size_t offset, size_t bytes) const;

  std::shared_ptr<Context> context_;
  size_t bytes_;
  uint64_t number_;
  MemoryHandle memory_;
  std::mutex mutex_;
  std::map<Range, Part> parts_;
};

class OpenClBuffer : public Buffer {
 public:
  OpenClBuffer(std::shared_ptr<Context> context, size_t bytes)
      : Buffer(bytes), block_(std::make_shared<Block>(std::move(context), bytes)) {}
  const std::shared_ptr<Block>& block() const { return block_; }

 private:
  std::shared_ptr<Block> block_;
};

/** The block of a range. Throws where the range is outside of it, or has none. */
Block& block_of(const BufferRange& range);

/** A range of a block that is bound to a kernel. It does not keep the block: the end of the buffer frees its memory. */
class BoundRange {
 public:
  BoundRange() = default;
  /** Throws where the offset is not aligned for kernels. */
  BoundRange(const BufferRange& range, const DeviceTraits& traits);
  BoundRange(BoundRange&& other) noexcept { *this = std::move(other); }
  BoundRange& operator=(BoundRange&& other) noexcept;
  ~BoundRange();

  /** NULL for a range without bytes. */
  cl_mem get() const { return memory_; }

 private:
  std::weak_ptr<Block> block_;
  size_t offset_ = 0, bytes_ = 0;
  cl_mem memory_ = nullptr;
};

}  // namespace ortolan::gpu::opencl
