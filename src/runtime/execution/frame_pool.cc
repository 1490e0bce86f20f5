// Which frames are kept, and for how long.
#include "runtime/execution/frame_pool.h"

namespace ortolan::runtime {
namespace {

constexpr size_t kMostFrames = 16;

}  // namespace

std::unique_ptr<Frame> FramePool::remove(size_t i) {
  auto frame = std::move(frames_[i]);
  frames_.erase(frames_.begin() + static_cast<ptrdiff_t>(i));
  *waiting_ -= frame->bytes();
  return frame;
}

void FramePool::keep(std::unique_ptr<Frame> frame, size_t limit) {
  make_room(frame->bytes(), limit / 4);
  if (frames_.size() == kMostFrames) remove(0);
  if (!has_room(frame->bytes(), limit)) return;
  frames_.reserve(kMostFrames);
  *waiting_ += frame->bytes();
  frames_.push_back(std::move(frame));
}

void FramePool::make_room(size_t bytes, size_t limit) {
  while (!frames_.empty() && !has_room(bytes, limit)) remove(0);
}

}  // namespace ortolan::runtime
