// Work done in a forked child, so that a crash or a hang of it stays there.
#pragma once

#include <functional>
#include <string>

namespace ortolan::tools {

struct ChildResult {
  enum class End { kDone, kFailed, kCrashed, kTimedOut };
  End end = End::kFailed;
  std::string text;         // what the work returned; for kFailed the error; for kCrashed the signal
  long peak_kilobytes = 0;  // the most memory the child had resident
};

// Forks, runs the work there and waits. The work returns text; an exception in it gives kFailed.
ChildResult run_in_child(const std::function<std::string()>& work, double timeout_seconds);

}  // namespace ortolan::tools
