// How much of a loop is done between two looks at whether it is to stop.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/threads/turn_taking.h"

namespace ortolan::base {

// Pieces of a loop that take about kPiece each, as far as the loop can be parted so finely. What an item takes is found
// out on the way: the first piece is short, and each of the others at most kGrowth times as long as the one before it.
// An object serves one thread.
template <class System = SystemTurns>
class PieceLength {
 public:
  // Much less than a person notices, as the first use of memory makes a piece take many times as long.
  static constexpr std::chrono::milliseconds kPiece{2};
  static constexpr int64_t kGrowth = 64;

  // Pieces of at most `most` items, in units of a few grains.
  PieceLength(int64_t grain, int64_t most) : unit_(std::min(most, unit_of(grain))), most_(most), length_(unit_) {}

  // The length of the next piece. Call when the one before it is done.
  int64_t next() {
    if (unit_ == most_) return most_;
    const auto now = System::now();
    if (timed_) adapt(now - start_);
    timed_ = true;
    start_ = now;
    return length_;
  }

 private:
  using Time = decltype(System::now());

  // An item that is a grain by itself may be any amount of work.
  static int64_t unit_of(int64_t grain) { return grain <= 1 ? 1 : grain > INT64_MAX / 4 ? INT64_MAX : 4 * grain; }

  void adapt(typename Time::duration taken) {
    const double ratio = std::chrono::duration<double>(kPiece) / std::max(taken, typename Time::duration(1));
    const double wanted = static_cast<double>(length_) * std::min(ratio, static_cast<double>(kGrowth));
    length_ = wanted >= static_cast<double>(most_) ? most_
                                                   : std::max<int64_t>(1, static_cast<int64_t>(wanted) / unit_) * unit_;
  }

  int64_t unit_, most_, length_;
  bool timed_ = false;
  Time start_{};
};

}  // namespace ortolan::base
