// An allocator that takes memory from the system in large regions and hands out pieces of them.
#pragma once

#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "tensor/allocator.h"

namespace ortolan::tensor {

/** How an arena grows; zero and negative numbers mean the default. */
struct ArenaOptions {
  size_t limit = 0;               // bytes of all regions together; 0: none
  int extend_strategy = -1;       // 0: regions double in size; 1: a region is as large as the request that needs it
  int64_t initial_region = -1;    // bytes of the first region; default 1 MiB
  int64_t initial_growth = -1;    // bytes of the first region after a shrink; default 2 MiB
  int64_t largest_doubling = -1;  // regions stop doubling at this size; default 1 GiB
  int64_t max_dead_bytes = -1;    // accepted and always met: what is left of a piece is given to the next request
};

/** Sets the option that ONNX Runtime calls `key` ("max_mem", "arena_extend_strategy", …); throws for an unknown one. */
void set_option(ArenaOptions& options, std::string_view key, size_t value);

/** Blocks are pieces of regions: free neighbours join, and a request takes the best fit among size classes. */
class Arena final : public Allocator {
 public:
  /** Takes regions from `source`, whose memory the CPU must be able to write (bookkeeping stands before each block).
   */
  explicit Arena(const ArenaOptions& options = {}, std::shared_ptr<Allocator> source = cpu_allocator());
  ~Arena() override;

  void* allocate(size_t bytes) override;
  void* reserve(size_t bytes) override;
  void free(void* block) noexcept override;
  const MemoryInfo& info() const override { return info_; }
  AllocatorStats stats() const override;
  void shrink() override;

 private:
  struct Piece;
  static constexpr int kClasses = 256;

  Piece* take_free(size_t bytes);
  Piece* extend(size_t bytes);
  void split(Piece* piece, size_t bytes);
  void push_free(Piece* piece) noexcept;
  void remove_free(Piece* piece) noexcept;
  Piece* join_neighbours(Piece* piece) noexcept;
  void count_allocation(size_t bytes) noexcept;
  size_t region_size(size_t bytes) const;
  /** What is left of the limit; throws where that is less than `bytes`. */
  size_t require_left(size_t bytes) const;

  ArenaOptions options_;
  std::shared_ptr<Allocator> source_;
  const MemoryInfo& info_;
  mutable std::mutex mutex_;
  std::vector<Piece*> regions_;  // the first piece of each
  Piece* free_[kClasses] = {};   // lists of free pieces by size class
  size_t next_region_;
  AllocatorStats stats_;
};

}  // namespace ortolan::tensor
