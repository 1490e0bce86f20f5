// Frames that wait for the next run.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "runtime/execution/frame.h"

namespace ortolan::runtime {

/** The bytes of all frames that wait in the pools of one session. */
using WaitingBytes = std::atomic<size_t>;

/** The free frames of one graph. Not thread-safe, apart from the count that the pools of a session share. */
class FramePool {
 public:
  explicit FramePool(std::shared_ptr<WaitingBytes> waiting) : waiting_(std::move(waiting)) {}
  ~FramePool() { clear(); }
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;

  const std::shared_ptr<WaitingBytes>& waiting() const { return waiting_; }
  /** The latest one that fits; NULL if none. */
  template <class Fits>
  std::unique_ptr<Frame> take(Fits&& fits) {
    for (size_t i = frames_.size(); i-- > 0;) {
      if (fits(*frames_[i])) return remove(i);
    }
    return nullptr;
  }
  /** Keeps the frame, and lets the oldest go for it: frames of a session together keep at most a quarter of `limit`
      bytes, unless there is but one, which may have all. */
  void keep(std::unique_ptr<Frame> frame, size_t limit);
  /** Lets the oldest go until the session's waiting frames and `bytes` more are at most `limit`, as far as these are
      in this pool. */
  void make_room(size_t bytes, size_t limit);
  void clear() { make_room(1, 0); }

 private:
  std::unique_ptr<Frame> remove(size_t i);
  bool has_room(size_t bytes, size_t limit) const { return bytes <= limit && *waiting_ <= limit - bytes; }

  std::shared_ptr<WaitingBytes> waiting_;
  std::vector<std::unique_ptr<Frame>> frames_;  // the oldest first
};

}  // namespace ortolan::runtime
