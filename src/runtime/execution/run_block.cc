// Blocks of a frame, aligned whatever the allocator's own alignment is.
#include "runtime/execution/run_block.h"

#include "base/checked.h"

namespace ortolan::runtime {
namespace {

constexpr size_t kBlockAlignment = 64;

}  // namespace

RunBlock::RunBlock(std::shared_ptr<tensor::Allocator> allocator, size_t bytes) : allocator_(std::move(allocator)) {
  if (bytes == 0) return;
  size_t room = base::checked_add(bytes, kBlockAlignment);  // a caller's allocator may align to less
  memory_ = allocator_->reserve(room);
  void* aligned = memory_;
  data_ = static_cast<std::byte*>(std::align(kBlockAlignment, bytes, aligned, room));
  bytes_ = bytes;
}

}  // namespace ortolan::runtime
