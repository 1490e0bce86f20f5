// Memory of a device: buffers are pieces of larger slabs.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "vulkan/context.h"

namespace ortolan::gpu::vulkan {

/** Memory of the driver, with a buffer over all of it. */
struct Slab {
  uint64_t number = 0;  // differs from that of every other slab there ever was
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkBuffer buffer = VK_NULL_HANDLE;
  std::byte* mapped = nullptr;  // NULL: the host does not see it
  size_t bytes = 0;
  std::map<size_t, size_t> free;  // bytes by offset; neighbours are one
  bool imported = false;          // memory of others: one piece has all of it
};

class MemoryPool;

/** A part of a slab, which goes back to its pool. */
class Piece {
 public:
  Piece(std::shared_ptr<MemoryPool> pool, Slab& slab, size_t offset, size_t bytes)
      : pool_(std::move(pool)), slab_(slab), offset_(offset), bytes_(bytes) {}
  ~Piece();
  Piece(const Piece&) = delete;
  Piece& operator=(const Piece&) = delete;

  Slab& slab() const { return slab_; }
  size_t offset() const { return offset_; }
  size_t bytes() const { return bytes_; }
  /** NULL where the host does not see it. */
  std::byte* mapped() const { return slab_.mapped == nullptr ? nullptr : slab_.mapped + offset_; }

 private:
  std::shared_ptr<MemoryPool> pool_;
  Slab& slab_;
  size_t offset_, bytes_;
};

/** Memory of one kind, which lives as long as its pieces. Thread-safe. */
class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
 public:
  enum class Kind { kDevice, kStaging };

  MemoryPool(std::shared_ptr<Context> context, Kind kind) : context_(std::move(context)), kind_(kind) {}
  ~MemoryPool();

  /** Throws kOutOfMemory. */
  std::shared_ptr<Piece> allocate(size_t bytes);
  /** All of the memory that a file descriptor stands for. Throws kInvalid where the driver does not take it. */
  std::shared_ptr<Piece> import(int file, size_t bytes);

 private:
  friend class Piece;
  void give_back(Slab& slab, size_t offset, size_t bytes);
  std::shared_ptr<Piece> take(size_t bytes);
  Slab& add_slab(size_t bytes);
  void fill(Slab& slab);
  void fill_from(Slab& slab, int file);
  bool bind_import(Slab& slab, int file, const VkMemoryRequirements& needed, uint32_t type);
  VkMemoryRequirements make_buffer(Slab& slab, const void* more);
  void map(Slab& slab);
  void end(Slab& slab);
  uint32_t choose_type(const Slab& slab, uint32_t allowed, const VkPhysicalDeviceMemoryProperties& memory);
  void check_budget(const Slab& slab, uint32_t heap, const VkPhysicalDeviceMemoryBudgetPropertiesEXT& budget);

  std::shared_ptr<Context> context_;
  const Kind kind_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Slab>> slabs_;
};

class VulkanBuffer : public Buffer {
 public:
  VulkanBuffer(std::shared_ptr<Context> context, std::shared_ptr<Piece> piece, size_t bytes)
      : Buffer(bytes), context_(std::move(context)), piece_(std::move(piece)) {}
  ~VulkanBuffer() override { context_->retire(std::move(piece_)); }
  const Piece& piece() const { return *piece_; }

 private:
  std::shared_ptr<Context> context_;
  std::shared_ptr<Piece> piece_;
};

/** A range as commands name it. */
struct Place {
  uint64_t slab = 0;  // its number
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceSize offset = 0, bytes = 0;
  std::byte* mapped = nullptr;  // NULL: the host does not see it
  bool operator==(const Place&) const = default;
};

/** Throws where the range is outside of its buffer, or has none. */
Place place_of(const BufferRange& range);

}  // namespace ortolan::gpu::vulkan
