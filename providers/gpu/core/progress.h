// Telling of preparation that takes long, as compiling and tuning may.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <string>

namespace ortolan::gpu {

/** Thread-safe. */
class Progress {
 public:
  using Clock = std::chrono::steady_clock;
  using Tell = std::function<void(const std::string& line)>;
  /** The least time before the first line and between lines. */
  static constexpr std::chrono::seconds kInterval{5};

  /** `now` is for tests. */
  explicit Progress(Tell tell, std::function<Clock::time_point()> now = Clock::now)
      : tell_(std::move(tell)), now_(std::move(now)), told_(now_()), seen_(told_) {}

  /** Preparation begins; a part of what went before, unless that was long ago. */
  void begin() {
    std::lock_guard lock(mutex_);
    Clock::time_point now = now_();
    if (now - seen_ >= kInterval) told_ = now;
    seen_ = now;
  }
  /** It goes on; `line()` says where it is, where it is time for a line. */
  template <class Line>
  void at(Line&& line) {
    if (is_due()) tell_(line());
  }

 private:
  bool is_due() {
    std::lock_guard lock(mutex_);
    seen_ = now_();
    if (seen_ - told_ < kInterval) return false;
    told_ = seen_;
    return true;
  }

  const Tell tell_;
  const std::function<Clock::time_point()> now_;
  std::mutex mutex_;
  Clock::time_point told_, seen_;  // the last line, and the last call
};

}  // namespace ortolan::gpu
